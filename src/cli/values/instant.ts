import type { Instant } from '../../contract/scalars.ts';
import { addDuration, dayOf, toInstant } from '../../domain/time.ts';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { isDay, isoDate } from './date-format.ts';
import { parseDuration, readDuration, refuseAmbiguous } from './duration.ts';

const DAY_MS = 86_400_000;
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

const instant = /^(.{10})T([01]\d|2[0-3]):\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * A future expiry: a day (its last moment, UTC), an instant, a duration from now, or `never` (null). A duration of days or
 * longer units also ends with its day, so that the same command makes the same request all day; years and months follow the
 * calendar. Throws `UsageError`.
 */
export function parseExpiry(text: string, { now }: Pick<Io, 'now'>): Instant | null {
  if (/^(never|forever)$/i.test(text)) return null;
  refuseAmbiguous(text);
  const end = endAfter(text, now()) ?? readTime(text, endOfDay);
  if (Number.isNaN(end)) {
    throw new UsageError(
      `'${text}' is not a date (2027-12-31), an instant (2027-12-31T18:00:00Z) or a duration (30d, 6mo, 1y)`,
    );
  }
  if (end >= LAST_MS) throw new UsageError(`'${text}' expires after the year 9999`);
  if (end <= now()) throw new UsageError(`'${text}' is in the past`);
  return toInstant(end);
}

/** For an option: a day may be written in other ways, such as `31.12.2027` and `tomorrow`. */
export const readExpiry = (text: string, io: Pick<Io, 'now'>): Instant | null =>
  parseExpiry(plainDate(text, io.now), io);

export const readStart = (text: string, { now }: Pick<Io, 'now'>): Instant => parseStart(plainDate(text, now));

/** The end: a day (its last moment, UTC) or an instant. Throws `UsageError`. */
export const parseAnyEnd = (text: string): Instant => parseDayOr(text, endOfDay);

/** The start: a day (its first moment, UTC) or an instant. Throws `UsageError`. */
export const parseStart = (text: string): Instant => parseDayOr(text, startOfDay);

/** A past instant, not before 1970. Throws `UsageError`. */
export function parsePast(text: string, { now }: Pick<Io, 'now'>): Instant {
  const at = parseStart(text);
  if (Date.parse(at) > now())
    throw new UsageError(`'${text}' is in the future`, ['Times without a zone are read as UTC.']);
  if (Date.parse(at) < 0) throw new UsageError(`'${text}' is before 1970`);
  return at;
}

/** The start: a day (its first moment, UTC), an instant, or how long ago (`7d`). Throws `UsageError`. */
export const parseSince = (text: string, io: Pick<Io, 'now'>): Instant =>
  readDuration(text) === null ? parsePast(plainDate(text, io.now), io) : toInstant(io.now() - parseDuration(text));

/** The end: a day (its last moment, UTC), an instant, or how long ago. Throws `UsageError`. */
export const parseUntil = (text: string, { now }: Pick<Io, 'now'>): Instant =>
  readDuration(text) === null ? parseAnyEnd(plainDate(text, now)) : toInstant(now() - parseDuration(text));

/** A day, or how long ago (`90d`). Throws `UsageError`. */
export function parseDayAgo(text: string, { now }: Pick<Io, 'now'>): string {
  const at = readDuration(text) === null ? Date.parse(parsePast(text, { now })) : now() - parseDuration(text);
  return dayOf(toInstant(at));
}

export const parseInstant = (text: string): Instant => toInstant(parseInstantMs(text));

export function parseInstantMs(text: string): number {
  const at = readInstant(text);
  if (Number.isNaN(at)) throw new UsageError(`'${text}' is not an instant such as 2027-12-31T18:00:00Z`);
  return at;
}

function parseDayOr(text: string, readDay: (text: string) => number): Instant {
  refuseAmbiguous(text);
  const at = readTime(text, readDay);
  if (Number.isNaN(at)) {
    throw new UsageError(`'${text}' is not a day (2027-12-31) or an instant (2027-12-31T18:00:00Z)`);
  }
  return toInstant(at);
}

const TOO_MANY_MONTHS = 12 * 9_999;

/** Null for text that is no duration. */
function endAfter(text: string, now: number): number | null {
  const duration = readDuration(text);
  if (duration === null) return null;
  const { years, months, hours, minutes, seconds } = duration;
  if (years * 12 + months > TOO_MANY_MONTHS) return LAST_MS;
  const end = Date.parse(addDuration(toInstant(now), duration));
  const isExact = hours + minutes + seconds > 0 || end === LAST_MS;
  return isExact ? end : Math.floor(end / DAY_MS) * DAY_MS + DAY_MS - 1_000;
}

/** NaN for other text and for days that do not exist. */
const readTime = (text: string, readDay: (text: string) => number): number =>
  isDay(text) ? readDay(text) : readInstant(text);

const readInstant = (text: string): number => (isDay(instant.exec(text)?.[1] ?? '') ? Date.parse(text) : Number.NaN);

const startOfDay = (text: string): number => Date.parse(`${text}T00:00:00Z`);

const endOfDay = (text: string): number => startOfDay(text) + DAY_MS - 1_000;

const relativeDays: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/**
 * Turns `31.12.2027`, `2027/12/31`, `20271231`, `31 Dec 2027`, `tomorrow` and `2027-12-31 10:00 UTC` (as
 * lkm prints it) into ISO 8601; returns other text unchanged. Throws `UsageError` for an ambiguous text: `03/04/2027`.
 */
function plainDate(text: string, now: () => number): string {
  const days = relativeDays[text.toLowerCase()];
  if (days !== undefined) return dayOf(toInstant(now() + days * DAY_MS));
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(text) ?? [];
  if (year !== undefined) return isoDate(`${year}-${month}-${day}`, 'ymd') ?? text;
  if (/^\d{4}[/.]\d{1,2}[/.]\d{1,2}$/.test(text)) return isoDate(text, 'ymd') ?? text;
  if (/^\d{1,2}\.\d{1,2}\.\d{4}$/.test(text)) return isoDate(text, 'dmy') ?? text;
  if (/^\d{1,2}\/\d{1,2}\/\d{4}$/.test(text)) return onlyReading(text);
  if (/^\d{4}-\S+ .*(?:Z|UTC|[+-]\d{2}:?\d{2})$/i.test(text)) return isoDate(text, 'ymd') ?? text;
  return dateWithMonthName(text) ?? text;
}

function onlyReading(text: string): string {
  const [first, second] = new Set([isoDate(text, 'dmy'), isoDate(text, 'mdy')].filter((date) => date !== null));
  if (second === undefined) return first ?? text;
  throw new UsageError(`'${text}' can mean two days: write ${first} or ${second}`);
}

/** `31 Dec 2027`, `December 31, 2027`. */
function dateWithMonthName(text: string): string | null {
  const found =
    /^(?<day>\d{1,2})\.? (?<name>[a-z]{3,9})\.?,? (?<year>\d{4})$/i.exec(text) ??
    /^(?<name>[a-z]{3,9})\.? (?<day>\d{1,2}),? (?<year>\d{4})$/i.exec(text);
  const { day = '', name = '', year = '' } = found?.groups ?? {};
  const month = monthNames.indexOf(name.slice(0, 3).toLowerCase()) + 1;
  return month === 0 ? null : isoDate(`${year}-${month}-${day}`, 'ymd');
}
