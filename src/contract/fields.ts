import { z } from 'zod';
import { showAs } from './openapi/json-schema.ts';
import { Count, MAX_SEQ, text } from './scalars.ts';

/** The JSON body of a request. */
export const request = <S extends z.ZodRawShape>(id: string, shape: S) => z.object(shape).meta({ id });

/** A number as text, for a field that takes text; other values unchanged. */
export const asText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);

/** Digits as a number, for a field that takes a number; other values unchanged. */
export const asNumber = (value: unknown): unknown =>
  typeof value === 'string' && /^[0-9]{1,10}$/.test(value) ? Number(value) : value;

/** A number of seconds that may be left out. */
export const secondsField = (min: number, max: number) => z.int().min(min).max(max).optional();

/** An array of `min` to `max` items. It is measured before any item is checked, so that a long array costs nothing. */
export function list<T extends z.ZodType>(item: T, min: number, max: number) {
  const array = z.array(item).min(min).max(max);
  return showAs(atMost(max, 'items', (value) => (Array.isArray(value) ? value.length : 0)).pipe(array), array);
}

/** An object with at most `max` members, which are counted before any is checked. */
export function record<N extends z.ZodString, V extends z.ZodType>(name: N, value: V, max: number) {
  return withAtMost(max, z.record(name, value).meta({ maxProperties: max }));
}

/** An object of any schema with at most `max` members, which are counted first. */
export const withAtMost = <T extends z.ZodType>(max: number, object: T) =>
  showAs(atMost(max, 'members', (value) => Object.keys(Object(value)).length).pipe(object), object);

/** Refuses a value that has more than `max` parts, before the inner schema looks at any part. */
function atMost(max: number, what: string, count: (value: unknown) => number) {
  return z.any().refine((value) => count(value) <= max, { message: `Too big: at most ${max} ${what}`, abort: true });
}

/** The body of a request that changes something: at least one of `changes` has to be there, and `rule` holds. */
export const changing = <S extends z.ZodRawShape>(
  id: string,
  shape: S,
  changes = Object.keys(shape),
  rule: FieldRule = [() => true, { message: '', path: [] }],
) =>
  z
    .object(shape)
    .refine(...rule)
    .refine((body) => countGiven(body, changes) > 0, `one of ${changes.join(', ')} is required`)
    .meta({ id, anyOf: changes.map((name) => ({ required: [name] })) });

/** Arguments of `refine`: a rule for some fields, and the message for the first of them. */
type FieldRule = readonly [(fields: object) => boolean, { message: string; path: string[] }];

/** Exactly one of two fields is required. */
export const eitherOf = (one: string, other: string): FieldRule => [
  (fields) => countGiven(fields, [one, other]) === 1,
  { message: `one of ${one} and ${other} is required`, path: [one] },
];

/** Two fields exclude each other. */
export const notBoth = (one: string, other: string): FieldRule => [
  (fields) => countGiven(fields, [one, other]) < 2,
  { message: `${one} and ${other} cannot be combined`, path: [one] },
];

/** One field requires another field. */
export const needs = (one: string, other: string): FieldRule => [
  (fields) => countGiven(fields, [one]) <= countGiven(fields, [other]),
  { message: `${one} needs ${other}`, path: [one] },
];

const countGiven = (fields: object, names: readonly string[]): number =>
  names.filter((name) => fields[name as keyof object] !== undefined).length;

/*
 * The fields of a query string. All are text on the wire; use cases and the client see numbers, booleans and lists, and
 * the OpenAPI document names those types. A text field needs none of this.
 */

/** A whole number from `min` to `max`, in digits, without sign or leading zero. */
export function integerField(min: number, max: number) {
  const number = z.int().min(min).max(max);
  const field = z.codec(z.string().regex(/^(0|[1-9][0-9]{0,14})$/), number, { decode: Number, encode: String });
  return showAs(field, number);
}

/** `true` or `false`. */
export const flagField = () =>
  showAs(z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }), z.boolean());

/** An array of one or more of some values, each at most once. */
export function setOf<const V extends readonly string[]>(values: V) {
  const isSet = (items: readonly string[]) => new Set(items).size === items.length;
  const items = list(z.enum(values), 1, values.length).refine(isSet, 'Invalid list: a value is repeated');
  return showAs(items, z.array(z.enum(values)).min(1).max(values.length).meta({ uniqueItems: true }));
}

/** Such an array as text, with commas between the values. */
export function listField<const V extends readonly string[]>(values: V) {
  const items = setOf(values);
  const field = z.codec(z.string(), items, {
    decode: (written) => written.split(',', values.length + 1),
    encode: (given: readonly string[]) => given.join(),
  });
  return showAs(field, items);
}

const units = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds'] as const;

/** A length of time in calendar units, as ISO 8601 writes it: how long a month is depends on where it begins. */
export interface Duration extends Readonly<Record<(typeof units)[number], number>> {}

const durationShape =
  /^P(?=[0-9T])([0-9]{1,4}Y)?([0-9]{1,4}M)?([0-9]{1,4}W)?([0-9]{1,4}D)?(?:T(?=[0-9])([0-9]{1,4}H)?([0-9]{1,4}M)?([0-9]{1,4}S)?)?$/;

/** An ISO 8601 duration such as `P1Y`, `P30D` or `PT12H`: at most four digits for each unit. */
export function durationField({ pattern = durationShape.source } = {}) {
  const written = z
    .string()
    .regex(durationShape)
    .meta({ pattern, examples: ['P30D'] });
  const parts: z.ZodType<Duration, Duration> = z.record(z.enum(units), z.int());
  return z.codec(written, parts, { decode: readDuration, encode: writeDuration });
}

/** A duration longer than zero. */
export function positiveDurationField() {
  const pattern = durationShape.source.replace('^P', '^P(?=.*[1-9])');
  return durationField({ pattern }).refine(isPositive, 'Too small: must be longer than nothing');
}

const isPositive = (duration: Duration): boolean => units.some((unit) => duration[unit] > 0);

/** Reads an ISO 8601 duration such as `P1Y`, of at most four digits for a unit. Throws `RangeError`. */
export function parseIsoDuration(written: string): Duration {
  if (!durationShape.test(written))
    throw new RangeError(`'${written}' is not an ISO 8601 duration such as P1Y or P14D`);
  return readDuration(written);
}

function readDuration(written: string): Duration {
  const [, ...amounts] = durationShape.exec(written) ?? [];
  return Object.fromEntries(units.map((unit, at) => [unit, Number.parseInt(amounts[at] ?? '0', 10)])) as Duration;
}

/** A duration as ISO 8601 writes it. */
export function writeDuration(duration: Duration): string {
  const write = (names: readonly (keyof Duration)[]) =>
    names.map((unit) => (duration[unit] === 0 ? '' : `${duration[unit]}${unit.charAt(0).toUpperCase()}`)).join('');
  const time = write(['hours', 'minutes', 'seconds']);
  const text = `P${write(['years', 'months', 'weeks', 'days'])}${time && `T${time}`}`;
  return text === 'P' ? 'PT0S' : text;
}

/** How many items a page, or a part of a list, has when no `limit` is given. */
export const DEFAULT_PAGE_SIZE = 100;

/** The fields that ask for one page of a list. */
export const pageFields = {
  page: integerField(1, 1_000_000)
    .optional()
    .describe('The page, from 1. Without `page` and `limit` the list is complete and has no `meta`'),
  limit: integerField(1, 1_000)
    .optional()
    .describe(`How many items a page has; ${DEFAULT_PAGE_SIZE} when only \`page\` is given`),
};

/** The number of an item of a numbered list. */
export const Seq = Count.min(1).describe('Its number in the account: from 1, without gaps');

/** The fields that ask for a part of a numbered list. */
export const feedFields = {
  after: integerField(0, MAX_SEQ).optional().describe('The number after which to begin; 0 unless given'),
  limit: integerField(1, 1_000).optional().describe(`How many items at most; ${DEFAULT_PAGE_SIZE} unless given`),
};

/** A search text of 1 to 256 characters. */
export const SearchText = text(1, 256);
