import type { Random } from '../../faults/random.ts';

/** Whether something happens that has this probability. */
export const happens = (random: Random, probability: number): boolean => random.below(1_000) < probability * 1_000;

type Schema = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value that the schema allows, or nearly: what only code can tell may be wrong with it. */
export function validValue(schema: unknown, random: Random): unknown {
  if (!isObject(schema)) return null;
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return random.pick(schema.enum);
  const either = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(either) && schema.properties === undefined) return validValue(random.pick(either), random);
  if (Array.isArray(schema.examples) && happens(random, 0.6)) return random.pick(schema.examples);
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
  switch (type) {
    case 'integer':
    case 'number':
      return boundary(schema, random);
    case 'boolean':
      return happens(random, 0.5);
    case 'array':
      return Array.from({ length: 1 + random.below(3) }, () => validValue(schema.items, random));
    case 'object':
      return objectOf(schema, random);
    case 'string':
      return textOf(schema, random);
    default:
      return null;
  }
}

function objectOf({ properties, required }: Schema, random: Random): Record<string, unknown> {
  if (!isObject(properties)) return { [random.pick(['plan', 'orderNumber', 'x'])]: random.pick(['a', 1, true]) };
  const needed = Array.isArray(required) ? required : [];
  const used = Object.entries(properties).filter(([name]) => needed.includes(name) || happens(random, 0.3));
  return Object.fromEntries(used.map(([name, schema]) => [name, validValue(schema, random)]));
}

function boundary({ minimum, maximum }: Schema, random: Random): number {
  const least = typeof minimum === 'number' ? minimum : 0;
  const most = typeof maximum === 'number' ? maximum : 1_000;
  return random.pick([least, most, Math.min(most, least + 1), least + random.below(Math.min(most - least, 100) + 1)]);
}

function textOf({ minLength, maxLength }: Schema, random: Random): string {
  const least = typeof minLength === 'number' ? minLength : 1;
  const most = typeof maxLength === 'number' ? maxLength : 40;
  return random
    .pick(['a', 'é', '7', '字', ' a'])
    .repeat(most)
    .slice(0, random.pick([least, Math.min(most, least + 9), most]));
}

/** What nobody should send, and everybody does. */
const brokenValues: readonly unknown[] = [
  ...[null, '', ' ', 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER, true, [], {}, [[[[]]]], 'null'],
  ...['undefined', '\u0000', '\ud800', '\u202e', '\u001b[31m', "' or 1=1 --", '"; drop table licenses; --'],
  ...['%00', '../../etc/passwd', '{{7*7}}', '<script>alert(1)</script>', '__proto__'],
  ...[{ __proto__: null, constructor: { prototype: { polluted: true } } }, { $ne: null }, 'x'.repeat(300)],
  ...['x'.repeat(70_000), '9'.repeat(40), '2026-02-30T00:00:00Z', '2026-11-21T10:00:00'],
  ...['+275760-09-13T00:00:00.000Z', 'P99999Y', 'PT0S', 'P9999Y9999M9999W9999DT9999H'],
  ...[['prod_00000000000000000000000000', 5], Array.from({ length: 2_000 }, () => 1)],
];

/** A value that fits hardly any schema. */
export const brokenValue = (random: Random): unknown => random.pick(brokenValues);

/** The same object with one member left out, added, or replaced by a valid or a broken value. */
export function mutated(
  object: Readonly<Record<string, unknown>>,
  schemas: Readonly<Record<string, unknown>>,
  random: Random,
): Record<string, unknown> {
  const changed = { ...object };
  for (let times = 1 + random.below(3); times > 0; times -= 1) {
    const names = [...Object.keys(schemas), ...Object.keys(changed)];
    const name = names.length === 0 || happens(random, 0.05) ? 'unknownField' : random.pick(names);
    if (happens(random, 0.15)) delete changed[name];
    else changed[name] = happens(random, 0.5) ? validValue(schemas[name], random) : brokenValue(random);
  }
  return changed;
}
