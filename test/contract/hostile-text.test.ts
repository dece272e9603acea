import { expect, it } from 'vitest';
import { listEndpoints } from '../../src/contract/index.ts';

/** A pattern that tries each character with all others takes ten seconds for it; a body may hold thirty times as much. */
const LENGTH = 30_000;

/** Enough for a busy machine. */
const LIMIT_MS = 1_000;

/** Texts that patterns read far into before they fail, at the end or at the beginning. */
const hostile = ['a', '0', ' ', '-', '@', '.', 'a@', '.a', 'P1', '1T', '_', 'A-', '[', ':', '\u00a0', 'é'].flatMap(
  (part) => {
    const long = part.repeat(LENGTH / part.length);
    return [long, `${long}\0`, `\0${long}`];
  },
);

const parts = listEndpoints().flatMap(({ name, endpoint: { query, body } }) =>
  [query, body].flatMap((schema) => (schema === undefined ? [] : [{ name, schema }])),
);

it.each(parts)('$name judges any long text, in any field, at once', ({ schema }) => {
  const sides = ['input', 'output'] as const;
  const fields = fieldsIn(sides.map((io) => schema.toJSONSchema({ io, unrepresentable: 'any' })));
  expect(fields.length).toBeGreaterThan(0);
  const slow = hostile.flatMap((text) => {
    const inside = Object.fromEntries(fields.map((name) => [name, text]));
    return fields.flatMap((field) =>
      [text, [text], inside, { [text]: text }].flatMap((value) => {
        const started = performance.now();
        schema.safeParse({ [field]: value });
        const took = performance.now() - started;
        return took < LIMIT_MS ? [] : [{ field, text: text.slice(0, 4), took: Math.round(took) }];
      }),
    );
  });
  expect(slow).toEqual([]);
});

/** The names of all fields, also of those that stand inside others. */
function fieldsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'properties' in value ? Object.keys(Object(value.properties)) : [];
  const patterns = 'patternProperties' in value || 'propertyNames' in value ? ['metadata.x'] : [];
  return [...new Set([...own, ...patterns, ...Object.values(value).flatMap(fieldsIn)])];
}
