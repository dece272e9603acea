import type { Instant } from '../contract/scalars.ts';

const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The instant at `epochMs` milliseconds since 1970, kept within the years 0000 to 9999, outside of which instants
 * would no longer sort as text. Throws `RangeError` for NaN.
 */
export function toInstant(epochMs: number): Instant {
  return new Date(Math.min(Math.max(epochMs, FIRST_MS), LAST_MS)).toISOString() as Instant;
}

/** Reads a clock (milliseconds since 1970) as instants; the one of a millisecond is written once. */
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

/** The instant `seconds` later, at the latest the end of year 9999. */
export function addSeconds(instant: Instant, seconds: number): Instant {
  return toInstant(Date.parse(instant) + seconds * 1000);
}

/**
 * The same day and time of the next month, UTC; a day that month lacks becomes its last (31 January → 28 February).
 * Source: API description, "Limits", default key expiry.
 */
export function addCalendarMonth(instant: Instant): Instant {
  const date = new Date(instant);
  const nextMonth = (date.getUTCMonth() + 1) % 12;
  date.setUTCMonth(date.getUTCMonth() + 1);
  if (date.getUTCMonth() !== nextMonth) date.setUTCDate(0);
  return toInstant(date.getTime());
}

/** Whole seconds since 1970, rounded down: never later than the instant itself. */
export function epochSeconds(instant: Instant): number {
  return Math.floor(Date.parse(instant) / 1000);
}

/** The earlier of two instants, where null means never. */
export function earlier(a: Instant, b: Instant | null): Instant;
export function earlier(a: Instant | null, b: Instant | null): Instant | null;
export function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
