import type { Instant } from '../../contract/scalars.ts';
import { toInstant } from '../../domain/time.ts';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { isDuration, parseDuration } from './duration.ts';

const day = /^\d{4}-\d{2}-\d{2}$/;
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * When something ends: a day (its last moment, UTC), an instant, a duration from now, or `never`, which is null.
 * Days and years end with their day too, so that the same command makes the same request all day.
 */
export function parseExpiry(text: string, io: Pick<Io, 'now'>): Instant | null {
  return text === 'never' ? null : parseEnd(text, io);
}

/** The same without `never`. */
export function parseEnd(text: string, io: Pick<Io, 'now'>): Instant {
  const end = readEnd(text, io);
  if (end <= io.now()) throw new UsageError(`'${text}' is in the past`);
  return toInstant(end);
}

function readEnd(text: string, io: Pick<Io, 'now'>): number {
  if (isDuration(text)) {
    const end = io.now() + parseDuration(text);
    return /[dy]$/.test(text) ? endOfDay(new Date(end).toISOString().slice(0, 10)) : end;
  }
  const end = day.test(text) ? endOfDay(text) : instant.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(end)) {
    throw new UsageError(`'${text}' is not a date (2027-12-31), an instant (2027-12-31T18:00:00Z) or a duration (30d)`);
  }
  return end;
}

/** NaN for a day that does not exist: `Date.parse` alone reads 31 February as 3 March. */
function endOfDay(text: string): number {
  const start = Date.parse(`${text}T00:00:00Z`);
  const exists = !Number.isNaN(start) && new Date(start).toISOString().startsWith(text);
  return exists ? start + 86_400_000 - 1_000 : Number.NaN;
}
