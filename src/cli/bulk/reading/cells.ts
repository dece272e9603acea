import { writeDuration } from '../../../contract/fields.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { parseCalendarDuration } from '../../values/calendar-duration.ts';
import { parseDuration } from '../../values/duration.ts';
import { parseAnyEnd, parseExpiry, parseStart } from '../../values/instant.ts';
import { parseBoolean, parseLimit, readValue } from '../../values/scalars.ts';

/*
 * How cells are read: into what stands in the body of a request, as JSON. A text cannot be empty here: an empty cell is
 * as good as none.
 */

/** A limit as a number; null for `unlimited`. */
export const limitCell = (text: string): number | null => parseLimit(text);

/** The same as text, as `POST /create-key` has it. */
export function limitTextCell(text: string): string | null {
  const limit = parseLimit(text);
  return limit === null ? null : String(limit);
}

/** Whole seconds, or a duration such as `5m`. */
export const secondsCell = (text: string): number =>
  /^\d{1,9}$/.test(text) ? Number(text) : parseDuration(text) / 1_000;

const booleanWords: ReadonlyMap<string, string> = new Map([
  ['yes', 'true'],
  ['no', 'false'],
  ['1', 'true'],
  ['0', 'false'],
]);

export const booleanCell = (text: string): boolean => {
  const lower = text.toLowerCase();
  return parseBoolean(booleanWords.get(lower) ?? lower);
};

/** An end that lies ahead: a day, an instant, a time from now, or null for `never`. */
export const expiryCell = (text: string, io: Pick<Io, 'now'>): string | null => parseExpiry(text, io);

/** An end that may have passed, with a day up to its last moment; null for `never`. */
export const endCell = (text: string): string | null => (text === 'never' ? null : parseAnyEnd(text));

/** A day, from its first moment, or an instant. */
export const momentCell = (text: string): string => parseStart(text);

export const durationCell = (text: string): string => writeDuration(parseCalendarDuration(text));

/** A value as a feature has it: true, false, a number, or text. */
export const featureCell = (text: string): boolean | number | string => readValue(text);

/** Names with a space, comma or semicolon between them, or a JSON array; null for `any`. */
export const listCell = (text: string): unknown =>
  text === 'any' ? null : text.startsWith('[') ? jsonCell(text) : text.split(/[\s,;]+/).filter((one) => one !== '');

export function jsonCell(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`'${text.slice(0, 40)}' is not JSON`, [], { cause });
  }
}

/** Devices as a JSON array, or the names of hosts alone. */
export function devicesCell(text: string): unknown {
  const listed = listCell(text);
  return Array.isArray(listed) ? listed.map((one) => (typeof one === 'string' ? { hostId: one } : one)) : listed;
}
