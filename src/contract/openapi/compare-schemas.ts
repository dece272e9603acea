import { type Json, listOf, objectOf, resolve } from './document.ts';

/** Which way a value goes: what clients send may only become wider, what they get only narrower or richer. */
export type Direction = 'sent' | 'received';

/** Two documents, and what takes their differences. */
export interface Documents {
  readonly before: Json;
  readonly after: Json;
  report(breaking: boolean, change: string): void;
}

/** Schemas refer to themselves at most through this many levels. */
const MAX_DEPTH = 12;

/** Reports the differences between a schema of the one document and one of the other, both at `path`. */
export function compareSchemas(
  documents: Documents,
  oldSchema: Json,
  newSchema: Json,
  direction: Direction,
  path: string,
  depth = MAX_DEPTH,
): void {
  if (depth === 0) return;
  const { before, after, report } = documents;
  const [oldTypes, newTypes] = [typesOf(oldSchema, before), typesOf(newSchema, after)];
  if (!isWithin(direction === 'sent' ? [oldTypes, newTypes] : [newTypes, oldTypes])) {
    report(true, `${path} is ${newTypes.join(' or ')}, not ${oldTypes.join(' or ')}`);
  }
  const [was, is] = [unwrap(oldSchema, before), unwrap(newSchema, after)];
  compareValues(was, is, direction, path, report);
  compareBounds(was, is, direction, path, report);
  compareFields(was, is, direction, path, report);
  const compareParts = (old: unknown, now: unknown, name: string) =>
    compareSchemas(documents, objectOf(old), objectOf(now), direction, `${path}${name}`, depth - 1);
  const [old, now] = [objectOf(was.properties), objectOf(is.properties)];
  for (const name of Object.keys(old).filter((name) => name in now)) compareParts(old[name], now[name], `.${name}`);
  if (was.items !== undefined && is.items !== undefined) compareParts(was.items, is.items, '[]');
  if (oldTypes.includes('object') && newTypes.includes('object')) {
    if (was.additionalProperties !== false && is.additionalProperties !== false) {
      compareParts(was.additionalProperties, is.additionalProperties, '.*');
    } else if (direction === 'sent' && was.additionalProperties !== false) {
      report(true, `${path} may have no other fields any more`);
    }
  }
}

/** Whether each of the narrower types is among the wider ones. An integer is a number too. */
function isWithin([narrow, wide]: readonly [readonly string[], readonly string[]]): boolean {
  if (wide.includes(ANYTHING)) return true;
  return narrow.every((type) => wide.includes(type) || (type === 'integer' && wide.includes('number')));
}

type Compare = (was: Json, is: Json, direction: Direction, path: string, report: Documents['report']) => void;

const compareValues: Compare = (was, is, direction, path, report) => {
  if (direction === 'received') return;
  const [oldValues, newValues] = [valuesOf(was), valuesOf(is)];
  const gone = oldValues.filter((value) => newValues.length > 0 && !newValues.includes(value));
  if (gone.length > 0) report(true, `${path} may not be ${gone.join(', ')} any more`);
  if (oldValues.length === 0 && newValues.length > 0) report(true, `${path} must be one of a list`);
};

const UPPER = ['maximum', 'maxLength', 'maxItems', 'maxProperties'];
const LOWER = ['minimum', 'minLength', 'minItems', 'minProperties'];

/** Only what clients send must be within bounds. */
const compareBounds: Compare = (was, is, direction, path, report) => {
  if (direction === 'received') return;
  const tighter = (name: string, isTighter: (old: number, now: number) => boolean, none: number) => {
    const [old = none, now = none] = [numberOf(was[name]), numberOf(is[name])];
    if (isTighter(old, now)) report(true, `${path} must be within ${name} ${now}`);
  };
  for (const name of UPPER) tighter(name, (old, now) => now < old, Number.POSITIVE_INFINITY);
  for (const name of LOWER) tighter(name, (old, now) => now > old, Number.NEGATIVE_INFINITY);
  if (is.pattern !== undefined && is.pattern !== was.pattern) report(true, `${path} must match another pattern`);
};

const compareFields: Compare = (was, is, direction, path, report) => {
  const [old, now] = [objectOf(was.properties), objectOf(is.properties)];
  const [oldRequired, newRequired] = [listOf(was.required), listOf(is.required)];
  for (const name of Object.keys(old)) {
    if (!(name in now)) report(true, `${path}.${name} is gone`);
    else if (direction === 'received' && oldRequired.includes(name) && !newRequired.includes(name)) {
      report(true, `${path}.${name} may be left out`);
    } else if (direction === 'sent' && !oldRequired.includes(name) && newRequired.includes(name)) {
      report(true, `${path}.${name} is required`);
    }
  }
  for (const name of Object.keys(now).filter((name) => !(name in old))) {
    const isNeeded = direction === 'sent' && newRequired.includes(name);
    report(isNeeded, `${path}.${name} is new${isNeeded ? ' and required' : ''}`);
  }
};

const ANYTHING = 'anything';

/** The types of a schema or of its alternatives. */
function typesOf(schema: Json, document: Json): readonly string[] {
  const { type, anyOf, oneOf } = resolve(schema, document);
  const alternatives = [...listOf(anyOf), ...listOf(oneOf)];
  const types =
    type === undefined && alternatives.length > 0
      ? alternatives.flatMap((one) => typesOf(objectOf(one), document))
      : [type].flat().filter((one) => typeof one === 'string');
  return types.length === 0 ? [ANYTHING] : [...new Set(types)];
}

/** What is compared besides the types: of something or null, the something. Several alternatives stay as they are. */
function unwrap(schema: Json, document: Json): Json {
  const own = resolve(schema, document);
  const alternatives = [...listOf(own.anyOf), ...listOf(own.oneOf)].map((one) => resolve(objectOf(one), document));
  const [one, ...others] = alternatives.filter(({ type }) => type !== 'null');
  return one === undefined || others.length > 0 ? own : { ...own, ...unwrap(one, document) };
}

function valuesOf({ enum: values, const: value }: Json): readonly unknown[] {
  return value === undefined ? listOf(values) : [value];
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
