import type { Duration } from '../../contract/fields.ts';
import { UsageError } from '../failure/errors.ts';

const DAY_MS = 86_400_000;
const LONGEST_MS = 8_000 * 365 * DAY_MS;

const shape =
  /^(?=\d)(?:(\d{1,9})y)?(?:(\d{1,9})mo)?(?:(\d{1,9})w)?(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})(?:m|min))?(?:(\d{1,9})s)?$/;

const isoShape =
  /^P(?=.)(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/;

/** Reads `1y6mo` or ISO 8601 (`P1Y`); null for other text. */
export function readDuration(written: string): Duration | null {
  const text = plainDuration(written);
  // After years, `m` means months.
  const found = isoShape.exec(text) ?? shape.exec(text.replace(/^(\d+y\d+)m(?![oi])/, '$1mo'));
  if (found === null) return null;
  const amounts = found.slice(1).map((amount = '0') => Number(amount));
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = amounts;
  return { years, months, weeks, days, hours, minutes, seconds };
}

/** In milliseconds. `m` means minutes, except after years. Throws `UsageError`. */
export function parseDuration(text: string): number {
  const duration = readDuration(text);
  if (duration === null) {
    throw new UsageError(`'${text}' is not a duration such as 90s, 15m, 12h, 30d or 1y`, [
      'Units: s, min or m, h, d, w, mo (30 days) and y (365 days)',
    ]);
  }
  const { years, months, weeks, days, hours, minutes, seconds } = duration;
  const time = (hours * 60 + minutes) * 60 + seconds;
  const ms = (years * 365 + months * 30 + weeks * 7 + days) * DAY_MS + time * 1_000;
  if (ms > LONGEST_MS) throw new UsageError(`'${text}' is longer than 8000 years`);
  return ms;
}

/** In seconds. Throws `UsageError`. */
export const parseSeconds = (text: string): number => parseDuration(text) / 1_000;

/** By the calendar: `P1Y`, `1y`, `2w`. Throws `UsageError`, also for the ambiguous `6m`. */
export function parseCalendarDuration(text: string): Duration {
  refuseAmbiguous(text);
  const duration = readDuration(text);
  if (duration === null) throw new UsageError(`'${text}' is not a duration such as P1Y, P14D, 1y, 30d or 12h`);
  if (Object.values({ ...duration }).some((amount) => amount > 9_999)) throw new UsageError(`'${text}' is too long`);
  return duration;
}

export function refuseAmbiguous(text: string): void {
  if (!/^\d{1,9}m$/.test(text)) return;
  throw new UsageError(`'${text}' can mean months or minutes: write ${text}o or ${text}in`);
}

const units: readonly (readonly [word: RegExp, letter: string])[] = [
  [/^years?$|^yrs?$/, 'y'],
  [/^months?$/, 'mo'],
  [/^weeks?$/, 'w'],
  [/^days?$/, 'd'],
  [/^hours?$|^hrs?$/, 'h'],
  [/^minutes?$|^mins$/, 'min'],
  [/^seconds?$|^secs?$/, 's'],
];

/** Turns words (`1 year`, `in 2 weeks`) into letters (`1y`, `2w`); returns other text unchanged. */
function plainDuration(text: string): string {
  const words = text
    .toLowerCase()
    .replace(/^in /, '')
    .split(/,? and |, | /);
  const pairs = words.join(' ').match(/(\d+|an?|one) ?[a-z]+/g) ?? [];
  if (pairs.length === 0 || pairs.join(' ') !== words.join(' ')) return text;
  const written = pairs.map((pair) => {
    const [, amount = '', word = ''] = /^(\d+|an?(?= )|one(?= )) ?([a-z]+)$/.exec(pair) ?? [];
    const letter = units.find(([pattern]) => pattern.test(word))?.[1];
    return letter === undefined ? null : `${/^\d/.test(amount) ? amount : 1}${letter}`;
  });
  return written.includes(null) ? text : written.join('');
}
