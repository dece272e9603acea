import type { Duration } from '../../contract/fields.ts';
import type { Instant } from '../../contract/scalars.ts';
import { toInstant } from '../../domain/time.ts';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';

const DAY_MS = 86_400_000;
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** The parts of a duration in the order in which they are written, largest first. */
interface Parts {
  readonly years: number;
  readonly months: number;
  readonly days: number;
  /** Hours, minutes and seconds. */
  readonly ms: number;
  /** Whether there are any of those. */
  readonly hasTime: boolean;
}

const shape =
  /^(?=\d)(?:(\d{1,9})y)?(?:(\d{1,9})mo)?(?:(\d{1,9})w)?(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})(?:m|min))?(?:(\d{1,9})s)?$/;

const isoShape =
  /^P(?=.)(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/;

/** What every text about durations lists. */
export const durationUnits = 's, min or m, h, d, w, mo (30 days) and y (365 days)';

/**
 * A duration such as `90s`, `15m`, `12h`, `2w`, `6mo`, `1y6mo`, in milliseconds. `m` is minutes, except straight after
 * years: `1y6m`. Throws `UsageError`.
 */
export function parseDuration(text: string): number {
  const parts = readParts(text);
  if (!parts) {
    throw new UsageError(`'${text}' is not a duration such as 90s, 15m, 12h, 30d or 1y`, [`Units: ${durationUnits}`]);
  }
  const ms = (parts.years * 365 + parts.months * 30 + parts.days) * DAY_MS + parts.ms;
  if (ms > LAST_MS) throw new UsageError(`'${text}' is longer than 8000 years`);
  return ms;
}

/** The same for what is done again and again: a second or more. */
export function parseInterval(text: string): number {
  const ms = parseDuration(text);
  if (ms < 1_000 || ms > DAY_MS) throw new UsageError(`'${text}' is not a duration from 1s to 1d`);
  return ms;
}

/** The same in seconds. */
export const parseSeconds = (text: string): number => parseDuration(text) / 1_000;

const day = /^\d{4}-\d{2}-\d{2}$/;
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * When something ends: a day (its last moment, UTC), an instant, a duration from now, or `never`, which is null.
 * A duration without hours, minutes and seconds ends with its day too, so that the same command makes the same request
 * all day; its years and months are those of the calendar.
 */
export function parseExpiry(text: string, io: Pick<Io, 'now'>): Instant | null {
  return text === 'never' ? null : parseEnd(text, io);
}

/** The same without `never`. */
export function parseEnd(text: string, io: Pick<Io, 'now'>): Instant {
  const end = readEnd(text, io.now());
  if (!(end <= LAST_MS)) throw new UsageError(`'${text}' ends after the year 9999`);
  if (end <= io.now()) throw new UsageError(`'${text}' is in the past`);
  return toInstant(end);
}

/** When something ends or has ended: a day (its last moment, UTC) or an instant. Throws `UsageError`. */
export function parseEndOf(text: string): Instant {
  const end = day.test(text) ? endOfDay(text) : parseClock(text);
  if (Number.isNaN(end)) throw new UsageError(`'${text}' is not a day`);
  return toInstant(end);
}

/** An instant, past or to come. */
export const parseInstant = (text: string): Instant => toInstant(parseClock(text));
/** A span of time such as `30d` or `6mo`, as the contract takes it. Throws `UsageError`. */
export function parseSpan(text: string): Duration {
  const parts = readParts(text);
  if (!parts)
    throw new UsageError(`'${text}' is not a duration such as 12h, 30d, 6mo or 1y`, [`Units: ${durationUnits}`]);
  const { years, months, days, ms } = parts;
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, (ms / 1_000) % 60];
  return { years, months, weeks: 0, days, hours, minutes, seconds };
}

/** A moment in the past or the future: a day (its first moment, UTC) or an instant. Throws `UsageError`. */
export function parseMoment(text: string): Instant {
  const at = day.test(text) ? Date.parse(`${text}T00:00:00Z`) : instant.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at) || (day.test(text) && !toInstant(at).startsWith(text))) {
    throw new UsageError(`'${text}' is not a day (2027-12-31) or an instant (2027-12-31T18:00:00Z)`);
  }
  return toInstant(at);
}

/** An instant, in milliseconds since 1970. */
export function parseClock(text: string): number {
  const at = instant.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new UsageError(`'${text}' is not an instant such as 2027-12-31T18:00:00Z`);
  return at;
}

function readEnd(text: string, now: number): number {
  refuseAmbiguous(text);
  const parts = readParts(text);
  if (parts) return endOf(parts, now);
  const end = day.test(text) ? endOfDay(text) : instant.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(end)) {
    throw new UsageError(
      `'${text}' is not a date (2027-12-31), an instant (2027-12-31T18:00:00Z) or a duration (30d, 6mo, 1y)`,
    );
  }
  return end;
}

/** Throws `UsageError` for `6m`, which can mean months or minutes. */
export function refuseAmbiguous(text: string): void {
  if (!/^\d{1,9}m$/.test(text)) return;
  throw new UsageError(`'${text}' can mean months or minutes: write ${text}o or ${text}in`);
}

/** The parts of a duration as it is written here, or in ISO 8601 (`P1Y`); null for any other text. */
export function readParts(text: string): Parts | null {
  const found = isoShape.exec(text) ?? shape.exec(text.replace(/^(\d+y\d+)m(?![oi])/, '$1mo'));
  if (!found) return null;
  const [years, months, weeks, days, hours, minutes, seconds] = found.slice(1).map((amount) => Number(amount ?? 0));
  return {
    years: years ?? 0,
    months: months ?? 0,
    days: (weeks ?? 0) * 7 + (days ?? 0),
    ms: (hours ?? 0) * 3_600_000 + (minutes ?? 0) * 60_000 + (seconds ?? 0) * 1_000,
    hasTime: found.slice(5).some((amount) => amount !== undefined),
  };
}

/** NaN when the end is beyond what a `Date` can hold. */
function endOf({ years, months, days, ms, hasTime }: Parts, now: number): number {
  const date = new Date(now);
  const dayOfMonth = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + years * 12 + months);
  // A day that the month lacks becomes its last: 31 January and a month is 28 February.
  if (date.getUTCDate() !== dayOfMonth) date.setUTCDate(0);
  const end = date.getTime() + days * DAY_MS + ms;
  return hasTime ? end : Math.floor(end / DAY_MS) * DAY_MS + DAY_MS - 1_000;
}

/** NaN for a day that does not exist: `Date.parse` alone reads 31 February as 3 March. */
function endOfDay(text: string): number {
  const start = Date.parse(`${text}T00:00:00Z`);
  const exists = !Number.isNaN(start) && new Date(start).toISOString().startsWith(text);
  return exists ? start + DAY_MS - 1_000 : Number.NaN;
}
