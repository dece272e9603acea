import { UsageError } from '../failure/errors.ts';

export function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new UsageError(`'${text}' is not a port, 0 to 65535`);
  return Number(text);
}

/** Requests per minute; `off` is null. */
export function parseRateLimit(text: string): number | null {
  if (text === 'off') return null;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`'${text}' is neither a number of requests nor 'off'`);
  return Number(text);
}

/** A whole number, `1` to `999999999`. */
export function parsePositive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`'${text}' is not a number above 0`);
  return Number(text);
}

const logFormats = ['pretty', 'json', 'none'] as const;

export function parseLogFormat(text: string): (typeof logFormats)[number] {
  const format = logFormats.find((one) => one === text);
  if (!format) throw new UsageError(`'${text}' is not one of ${logFormats.join(', ')}`);
  return format;
}

/** An instant, in milliseconds since 1970. */
export function parseClock(text: string): number {
  const at = /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new UsageError(`'${text}' is not an instant such as 2027-12-31T18:00:00Z`);
  return at;
}
