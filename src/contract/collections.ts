import { z } from 'zod';
import { showAs } from './json-schema.ts';

/** An array of `min` to `max` items. It is measured before any item is checked, so that a long one costs nothing. */
export function list<T extends z.ZodType>(item: T, min: number, max: number) {
  const array = z.array(item).min(min).max(max);
  return showAs(atMost(max, 'items', (value) => (Array.isArray(value) ? value.length : 0)).pipe(array), array);
}

/** An object with at most `max` members, which are counted before any is checked. */
export function record<N extends z.ZodString, V extends z.ZodType>(name: N, value: V, max: number) {
  const object = z.record(name, value).meta({ maxProperties: max });
  return showAs(atMost(max, 'members', countMembers).pipe(object), object);
}

/** Lets any value through that has no more than `max` of something; the schema behind it then looks at the rest. */
export function atMost(max: number, what: string, count: (value: unknown) => number) {
  return z.any().refine((value) => count(value) <= max, { message: `Too big: at most ${max} ${what}`, abort: true });
}

/** How many members an object has. */
export const countMembers = (value: unknown): number =>
  typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
