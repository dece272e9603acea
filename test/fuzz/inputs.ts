/** A source of numbers from 0 up to 1 that is the same in every run with one seed (mulberry32). */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    is: (probability) => next() < probability,
    pick: (items) => {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('there is nothing to pick from');
      return item;
    },
    below: (limit) => Math.floor(next() * limit),
  };
}

/** Decides by chance, the same way in every run with one seed. */
export interface Chance {
  is(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  below(limit: number): number;
}

type Schema = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value that the schema allows, or nearly: what only code can tell may be wrong with it. */
export function validValue(schema: unknown, chance: Chance): unknown {
  if (!isObject(schema)) return null;
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return chance.pick(schema.enum);
  const either = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(either) && schema.properties === undefined) return validValue(chance.pick(either), chance);
  if (Array.isArray(schema.examples) && chance.is(0.6)) return chance.pick(schema.examples);
  const type = Array.isArray(schema.type) ? chance.pick(schema.type) : schema.type;
  switch (type) {
    case 'integer':
    case 'number':
      return boundary(schema, chance);
    case 'boolean':
      return chance.is(0.5);
    case 'array':
      return Array.from({ length: 1 + chance.below(3) }, () => validValue(schema.items, chance));
    case 'object':
      return objectOf(schema, chance);
    case 'string':
      return textOf(schema, chance);
    default:
      return null;
  }
}

function objectOf({ properties, required }: Schema, chance: Chance): Record<string, unknown> {
  if (!isObject(properties)) return { [chance.pick(['plan', 'orderNumber', 'x'])]: chance.pick(['a', 1, true]) };
  const needed = Array.isArray(required) ? required : [];
  const used = Object.entries(properties).filter(([name]) => needed.includes(name) || chance.is(0.3));
  return Object.fromEntries(used.map(([name, schema]) => [name, validValue(schema, chance)]));
}

function boundary({ minimum, maximum }: Schema, chance: Chance): number {
  const least = typeof minimum === 'number' ? minimum : 0;
  const most = typeof maximum === 'number' ? maximum : 1_000;
  return chance.pick([least, most, Math.min(most, least + 1), least + chance.below(Math.min(most - least, 100) + 1)]);
}

function textOf({ minLength, maxLength }: Schema, chance: Chance): string {
  const least = typeof minLength === 'number' ? minLength : 1;
  const most = typeof maxLength === 'number' ? maxLength : 40;
  return chance
    .pick(['a', 'é', '7', '字', ' a'])
    .repeat(most)
    .slice(0, chance.pick([least, Math.min(most, least + 9), most]));
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
export const brokenValue = (chance: Chance): unknown => chance.pick(brokenValues);

/** The same object with one member left out, added, or replaced by a valid or a broken value. */
export function mutated(
  object: Readonly<Record<string, unknown>>,
  schemas: Readonly<Record<string, unknown>>,
  chance: Chance,
): Record<string, unknown> {
  const changed = { ...object };
  for (let times = 1 + chance.below(3); times > 0; times -= 1) {
    const names = [...Object.keys(schemas), ...Object.keys(changed)];
    const name = names.length === 0 || chance.is(0.05) ? 'unknownField' : chance.pick(names);
    if (chance.is(0.15)) delete changed[name];
    else changed[name] = chance.is(0.5) ? validValue(schemas[name], chance) : brokenValue(chance);
  }
  return changed;
}
