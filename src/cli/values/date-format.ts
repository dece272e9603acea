/** In which order people write day, month and year: `31.12.2027`, `12/31/2027`, `2027/12/31`. */
export const dateFormats = ['dmy', 'mdy', 'ymd'] as const;

export type DateFormat = (typeof dateFormats)[number];

/** Three numbers, with a time of day behind them, in UTC. */
const written = /^(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;

/** A date as ISO 8601 writes it; null for a text that is no date of that format. The year has four digits. */
export function isoDate(text: string, format: DateFormat): string | null {
  const [, first = '', second = '', third = '', hour, minute, seconds = '00'] = written.exec(text.trim()) ?? [];
  const numbers = [first, second, third];
  const at = (letter: string) => numbers[format.indexOf(letter)]?.padStart(2, '0');
  const date = `${at('y')}-${at('m')}-${at('d')}`;
  if (!isDay(date)) return null;
  return hour === undefined ? date : `${date}T${hour.padStart(2, '0')}:${minute}:${seconds}Z`;
}

/** The formats in which all of these are dates. */
export const formatsOf = (texts: readonly string[]): readonly DateFormat[] =>
  dateFormats.filter((format) => texts.length > 0 && texts.every((text) => isoDate(text, format) !== null));

/** Whether there is such a day: `Date` reads 31 February as 3 March. */
function isDay(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}
