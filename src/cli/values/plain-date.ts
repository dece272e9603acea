import { dayOf, toInstant } from '../../domain/time.ts';
import { UsageError } from '../failure/errors.ts';
import { isoDate } from './date-format.ts';

const DAY_MS = 86_400_000;

const relativeDays: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/**
 * Turns `31.12.2027`, `2027/12/31`, `20271231`, `31 Dec 2027`, `tomorrow` and `2027-12-31 10:00 UTC` (as
 * lkm prints it) into ISO 8601; returns other text unchanged. Throws `UsageError` for an ambiguous text: `03/04/2027`.
 */
export function plainDate(text: string, now: () => number): string {
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
