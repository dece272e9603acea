/** The order of day, month and year: `31.12.2027`, `12/31/2027`, `2027/12/31`; or the time since 1970. */
export const dateFormats = ['dmy', 'mdy', 'ymd', 'epoch'] as const;

export type DateFormat = (typeof dateFormats)[number];

/** Three numbers, optionally with time of day and zone; default UTC. */
const written =
  /^(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})(?:(?:T|,?\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s*([ap])\.?m\.?)?\s*(Z|(?:UTC|GMT)?(?:[+-]\d{2}(?::?\d{2})?)?))?$/i;

/** Smaller numbers are seconds. */
const FIRST_MILLISECONDS = 1e11;

/** A date in ISO 8601, an instant in UTC; null for other text. The year has four digits. Midnight without a zone is the day. */
export function isoDate(text: string, format: DateFormat): string | null {
  if (format === 'epoch') return epochDate(text);
  const [, first = '', second = '', third = '', hour, minute = '', seconds = '00', fraction = '', half, zone = ''] =
    written.exec(text.trim()) ?? [];
  const numbers = [first, second, third];
  const at = (letter: string) => numbers[format.indexOf(letter)]?.padStart(2, '0');
  const date = `${at('y')}-${at('m')}-${at('d')}`;
  if (!isDay(date)) return null;
  if (hour === undefined) return date;
  const hours = hourOfDay(Number(hour), half);
  if (hours === null || hours > 23 || Number(minute) > 59 || Number(seconds) > 59) return null;
  if (zone === '' && hours + Number(minute) + Number(seconds) + Number(fraction) === 0) return date;
  const [, sign = '+', offsetHours = '00', offsetMinutes = '00'] = /([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  if (Number(offsetHours) > 14 || Number(offsetMinutes) > 59) return null;
  const time = `${String(hours).padStart(2, '0')}:${minute}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}`;
  return toIso(Date.parse(`${date}T${time}${sign}${offsetHours}:${offsetMinutes}`));
}

/** From 0 to 23; with `a` (am) or `p` (pm) of the hours 1 to 12, else null. */
function hourOfDay(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

function epochDate(text: string): string | null {
  if (!/^-?\d{1,15}(\.\d+)?$/.test(text)) return null;
  const number = Number(text);
  return toIso(Math.round(Math.abs(number) < FIRST_MILLISECONDS ? number * 1_000 : number));
}

function toIso(ms: number): string | null {
  const iso = Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : '';
  return iso.length === 24 ? iso.replace('.000Z', 'Z') : null;
}

/** The formats that fit all of these dates. Nobody means seconds by a short number. */
export const formatsOf = (texts: readonly string[]): readonly DateFormat[] =>
  dateFormats.filter(
    (format) =>
      texts.length > 0 &&
      texts.every((text) => isoDate(text, format) !== null && (format !== 'epoch' || text.length >= 9)),
  );

/** Whether the text is a day that exists: `Date` reads 31 February as 3 March. */
export function isDay(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === date;
}
