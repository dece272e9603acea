export const EMPTY_CELL = '–';

/** `2027-11-20 23:59 UTC`. */
export const moment = (value: unknown): string =>
  typeof value === 'string' ? `${value.slice(0, 10)} ${value.slice(11, 16)} UTC` : EMPTY_CELL;

/** Without the day if it is today: `10:31 UTC`. */
export const shortMoment = (value: string, now: number): string =>
  moment(value).slice(value.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? 11 : 0);

/** Rounds up a little: a month that began an hour ago ends in a month, not in 29 days. */
const ROUNDED_UP = 1.002;

/** `3 months ago`, `in 2 hours`; months up to two years. */
export function relative(value: unknown, now: number): string {
  if (typeof value !== 'string') return EMPTY_CELL;
  const left = (Date.parse(value) - now) / 1000;
  const seconds = left > 0 ? left * ROUNDED_UP : left;
  const fits = units.find(([unit, size]) => Math.abs(seconds) >= (unit === 'year' ? 2 * size : size));
  if (!fits) return seconds > 0 ? 'in a moment' : 'just now';
  const [unit, size] = fits;
  const amount = Math.floor(Math.abs(seconds) / size);
  return seconds > 0 ? `in ${count(amount, unit)}` : `${count(amount, unit)} ago`;
}

const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** A past day: `today`, `3 days ago`. */
export function dayInBrief(day: unknown, now: number): string {
  if (typeof day !== 'string') return EMPTY_CELL;
  return now - Date.parse(day) < 86_400_000 ? 'today' : relative(day, now);
}

/** `2027-11-20 23:59 UTC (in 12 months)`. */
export const momentAndWhen = (value: unknown, now: number): string => `${moment(value)} (${relative(value, now)})`;

export const expiry = (value: unknown, now: number): string =>
  value === null
    ? 'never'
    : Date.parse(String(value)) <= now
      ? `expired ${relative(value, now)}`
      : momentAndWhen(value, now);

/** `1 of 3`. */
export const usage = (used: unknown, max: unknown): string =>
  max === null || max === undefined ? `${used} (unlimited)` : `${used} of ${max}`;

/** `in 12 months`, `4 days ago`, `never`. */
export const expiryInBrief = (value: unknown, now: number): string => (value === null ? 'never' : relative(value, now));

/** `1/3`, `1/∞`. */
export const usageInBrief = (used: unknown, max: unknown): string => `${used}/${max ?? '∞'}`;

export const yesNo = (value: unknown): string => (value ? 'yes' : 'no');

/** The end of a key, for output that other people may read: `…2BBF6`. */
export const keyEnd = (key: unknown): string => `…${String(key).slice(-5)}`;

/** `1 device`, `2 devices`. */
export const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

export const thereAreMore = (limit: number | undefined): string =>
  `${limit === 1 ? 'this is the first one' : `these are the first ${limit}`}; there are more`;

/** In the largest whole unit: `30 days`. */
export function duration(seconds: number): string {
  const [unit, size] = units.find(([, size]) => seconds >= size && seconds % size === 0) ?? (['second', 1] as const);
  return count(seconds / size, unit);
}

/** As it is typed: `5m12s`. */
export function typedDuration(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60), seconds % 60];
  const parts = [`${hours}h`, `${minutes}m`, `${rest}s`].filter((part) => !part.startsWith('0'));
  return parts.join('') || '0s';
}

export const firstLower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Whether every shell reads the text as one word without expansion. */
export const isPlainWord = (text: string): boolean => /^[\w@%+=:,./-]+$/.test(text);

/** Whether a text is one word in every shell as soon as quotes stand around it: nothing in it is expanded. */
export const isPlainName = (text: string): boolean =>
  /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_@%+=:,./&-]*( [\p{L}\p{M}\p{N}_@%+=:,./&-]+)*$/u.test(text);

/** Quotes a word for a shell. */
export const quote = (word: string): string => (isPlainWord(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** `340 kB`, `12.3 MB`. */
export const size = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Breaks a command between words; a `\` at the end of a line makes the shell go on. */
export function foldCommand(command: string, columns: number): string[] {
  const words = command.match(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g) ?? [];
  // A word that stands for a value stays with its option.
  const parts = words
    .join('\n')
    .replaceAll(/^(-\S+)\n(?!-)/gm, '$1 ')
    .split('\n');
  const lines: string[] = [];
  for (const part of parts) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + part.length + 3 <= columns) lines[lines.length - 1] = `${line} ${part}`;
    else lines.push(line === undefined ? part : `  ${part}`);
  }
  return lines.map((line, at) => (at < lines.length - 1 ? `${line} \\` : line));
}

/** Puts the command of an indented line below its label where the line is too long. */
export function foldLine(line: string, columns: number): string[] {
  const [, label = '', command] = /^( +(?:[^:]*: +)?)((?:npx (?:--\S+ )?)?lkm .*)$/.exec(line) ?? [];
  if (command === undefined || line.length <= columns) return [line];
  const folded = foldCommand(command, columns - 4).map((part) => `    ${part}`);
  return label.trim() === '' ? folded : [label.trimEnd(), ...folded];
}

/** Breaks a text between words. */
export function wrap(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
