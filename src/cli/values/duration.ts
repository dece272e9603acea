import { UsageError } from '../failure/errors.ts';

const DAY_MS = 86_400_000;
/** As long as 8000 years. */
const LONGEST_MS = 8_000 * 365 * DAY_MS;

/** The parts of a duration in the order in which they are written, largest first. */
export interface DurationParts {
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

/** What texts about such durations list: they have no calendar. */
const units = 's, min or m, h, d, w, mo (30 days) and y (365 days)';

/**
 * A duration such as `90s`, `15m`, `12h`, `2w`, `6mo`, `1y6mo`, in milliseconds. `m` is minutes, except straight after
 * years: `1y6m`. Throws `UsageError`.
 */
export function parseDuration(text: string): number {
  const parts = readParts(text);
  if (!parts) {
    throw new UsageError(`'${text}' is not a duration such as 90s, 15m, 12h, 30d or 1y`, [`Units: ${units}`]);
  }
  const ms = (parts.years * 365 + parts.months * 30 + parts.days) * DAY_MS + parts.ms;
  if (ms > LONGEST_MS) throw new UsageError(`'${text}' is longer than 8000 years`);
  return ms;
}

/** A duration between two times of the same work, from a second to a day, in milliseconds. Throws `UsageError`. */
export function parseInterval(text: string): number {
  const ms = parseDuration(text);
  if (ms < 1_000 || ms > DAY_MS) throw new UsageError(`'${text}' is not a duration from 1s to 1d`);
  return ms;
}

/** A duration as {@link parseDuration} reads it, in seconds. Throws `UsageError`. */
export const parseSeconds = (text: string): number => parseDuration(text) / 1_000;

/** Throws `UsageError` for `6m`, which can mean months or minutes. */
export function refuseAmbiguous(text: string): void {
  if (!/^\d{1,9}m$/.test(text)) return;
  throw new UsageError(`'${text}' can mean months or minutes: write ${text}o or ${text}in`);
}

/** The parts of a duration as it is written on the command line, or in ISO 8601 (`P1Y`); null for any other text. */
export function readParts(text: string): DurationParts | null {
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
