import { UsageError } from '../failure/errors.ts';

const MAX_COUNT = 999_999_999;

/** A whole number, `0` to `999999999`. */
export const parseCount = (text: string): number => parseWhole(text, 0);

/** A whole number, `1` to `999999999`. */
export const parsePositive = (text: string): number => parseWhole(text, 1);

/** A whole number, or `unlimited`, which is null. Its lower bound is the contract's. */
export const parseLimit = (text: string): number | null =>
  text === 'unlimited' ? null : parseWhole(text, 0, 'unlimited');

/** Requests per minute; `off` is null. */
export const parseRateLimit = (text: string): number | null => (text === 'off' ? null : parseWhole(text, 1, 'off'));

export function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new UsageError(`'${text}' is not a port, 0 to 65535`);
  return Number(text);
}

function parseWhole(text: string, least: number, word?: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  const range = `a whole number from ${least} to ${MAX_COUNT}`;
  throw new UsageError(word ? `'${text}' is neither ${range} nor '${word}'` : `'${text}' is not ${range}`);
}

export type Feature = readonly [name: string, value: boolean | number | string];

/** `NAME` switches a feature on; `NAME=VALUE` gives it a value, read as true, false or a number where it is one. */
export function parseFeature(text: string): Feature {
  const at = text.indexOf('=');
  const name = at < 0 ? text : text.slice(0, at);
  // A record of JSON cannot hold it.
  if (name === '__proto__') throw new UsageError(`a feature cannot be called ${name}`);
  if (name === '') throw new UsageError(`'${text}' has no name; write NAME or NAME=VALUE`);
  return [name, at < 0 ? true : readValue(text.slice(at + 1))];
}

function readValue(text: string): boolean | number | string {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
}
