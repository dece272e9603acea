import type { Duration } from '../contract/fields.ts';
import type { Instant } from '../contract/scalars.ts';

const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** The first instant that an id can name. */
export const EPOCH = '1970-01-01T00:00:00.000Z' as Instant;

/** An instant from milliseconds since 1970, kept within the years that sort as text, 0000 to 9999. Throws `RangeError` for NaN. */
export function toInstant(epochMs: number): Instant {
  return new Date(Math.min(Math.max(epochMs, FIRST_MS), LAST_MS)).toISOString() as Instant;
}

/** Reads a clock (milliseconds since 1970) as instants; within a millisecond it returns the same text. */
export function instantsOf(clock: () => number): () => Instant {
  let lastMs = Number.NaN;
  let last: Instant;
  return () => {
    const ms = clock();
    if (ms !== lastMs) {
      last = toInstant(ms);
      lastMs = ms;
    }
    return last;
  };
}

/** The day of an instant, UTC: `2026-11-21`. */
export const dayOf = (instant: Instant): string => instant.slice(0, 10);

/** An instant in the name of a file, to the second: `2026-11-21T10-00-00`. */
export const fileStamp = (instant: Instant): string => instant.slice(0, 19).replaceAll(':', '-');

/** The instant `seconds` later, at the latest the end of year 9999. */
export const addSeconds = (instant: Instant, seconds: number): Instant => addMilliseconds(instant, seconds * 1000);

/** The same day and time of the next month, or its last day. Source: API description, "Limits", default key expiry. */
export const addCalendarMonth = (instant: Instant): Instant => addDuration(instant, A_MONTH);

export const A_MONTH = { months: 1 };

/**
 * The instant a length of time later, UTC, at most year 9999: months first, at most to the last day of a shorter month, then
 * the rest.
 */
export const addDuration = (instant: Instant, duration: Partial<Duration>): Instant =>
  expiryAfter(instant, duration).expirationDate;

/** When a licence expires. */
export interface Expiry {
  readonly expirationDate: Instant;
  /** The day of the month, UTC, for later renewals, where this month is too short for it; else null. */
  readonly renewalDay: number | null;
}

/** The expiry a length of time after `instant`, which stands for the `renewalDay` of its month. */
export function expiryAfter(
  instant: Instant,
  { years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 }: Partial<Duration>,
  renewalDay?: number | null,
): Expiry {
  const day = renewalDay ?? new Date(instant).getUTCDate();
  const time = ((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
  const expirationDate = toInstant(addMonths(instant, years * 12 + months, day) + time);
  const isCutShort = time === 0 && day > new Date(expirationDate).getUTCDate();
  return { expirationDate, renewalDay: isCutShort ? day : null };
}

/** The expiry a length of time from now on: without hours, minutes and seconds the end of its day, UTC. Source: decision 0009. */
export function expiryFromNow(now: Instant, duration: Partial<Duration>): Expiry {
  const expiry = expiryAfter(now, duration);
  const { hours = 0, minutes = 0, seconds = 0 } = duration;
  if (hours + minutes + seconds > 0) return expiry;
  return { ...expiry, expirationDate: `${dayOf(expiry.expirationDate)}T23:59:59.000Z` as Instant };
}

/** The instant on the given day of a month, or on its last day if the month is shorter; in milliseconds since 1970. */
function addMonths(instant: Instant, months: number, dayOfMonth: number): number {
  const date = new Date(instant);
  date.setUTCMonth(date.getUTCMonth() + months, dayOfMonth);
  if (date.getUTCDate() !== dayOfMonth) date.setUTCDate(0);
  return date.getTime();
}

/** The instant of a change: now, but later than the last one, so that no two versions have the same instant. */
export function changeInstant(now: Instant, last: Instant): Instant {
  return now > last ? now : toInstant(Date.parse(last) + 1);
}

/** Whole seconds since 1970, rounded down: never later than the instant itself. */
export const epochSeconds = (instant: Instant): number => Math.floor(Date.parse(instant) / 1000);

/** The instant that is `milliseconds` later, at the latest the end of year 9999. */
export function addMilliseconds(instant: Instant, milliseconds: number): Instant {
  return toInstant(Date.parse(instant) + milliseconds);
}

/** The later of two instants. */
export const later = (a: Instant, b: Instant): Instant => (a > b ? a : b);

/** The earlier of two instants, where null means never. */
export function earlier(a: Instant, b: Instant | null): Instant;
export function earlier(a: Instant | null, b: Instant | null): Instant | null;
export function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
