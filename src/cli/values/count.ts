import { UsageError } from '../failure/errors.ts';

/** A whole number, `0` to `999999999`. */
export function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`'${text}' is not a whole number`);
  return Number(text);
}

/** A whole number, or `unlimited`, which is null. */
export function parseLimit(text: string): number | null {
  if (text === 'unlimited') return null;
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`'${text}' is neither a whole number nor 'unlimited'`);
  return Number(text);
}
