import { isIPv6 } from 'node:net';
import { UsageError } from '../failure/errors.ts';
import { parseDuration } from './duration.ts';

const MAX_COUNT = 999_999_999;

/** Throws `UsageError`. */
export function parseWhole(text: string, least: number, most = MAX_COUNT): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new UsageError(`'${text}' is not a whole number from ${least} to ${most}`);
}

/** From 1, or a word for null. */
function parseWholeOr(word: string, text: string): number | null {
  if (text === word) return null;
  if (/^\d{1,9}$/.test(text) && Number(text) >= 1) return Number(text);
  throw new UsageError(`'${text}' is neither a whole number from 1 to ${MAX_COUNT} nor '${word}'`);
}

export const parseCount = (text: string): number => parseWhole(text, 0);

export const parsePositive = (text: string): number => parseWhole(text, 1);

export const parseWaitSeconds = (text: string): number => parseWhole(text, 0, 86_400);

export const parsePort = (text: string): number => parseWhole(text, 0, 65_535);

/** Where to listen: `9464` (of this machine), `0.0.0.0:9464`, `[::]:9464`. */
export function parseListenAddress(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port = text] = /^(?:\[([^[\]]+)\]|([^:[\]]+)):(\d+)$/.exec(text) ?? [];
  if (bracketed !== undefined && !isIPv6(bracketed)) throw new UsageError(`'${bracketed}' is not an IPv6 address`);
  return { host: bracketed ?? plain ?? '127.0.0.1', port: parsePort(port) };
}

/** An option without a number is `true`. */
export const parseSeed = (text: string): number => (text === 'true' ? 1 : parseWhole(text, 0));

export const parseLimit = (text: string): number | null => parseWholeOr('unlimited', text);

export const parseRateLimit = (text: string): number | null => parseWholeOr('off', text);

/** `none` is null. */
export const orNone =
  <T>(parse: (text: string) => T) =>
  (text: string): T | null =>
    text === 'none' ? null : parse(text);

export const textOrNone = orNone((text) => text);

/** In milliseconds, more than 0: otherwise no attempt could succeed. */
export function parseTimeout(text: string): number {
  const ms = parseDuration(text);
  if (ms <= 0) throw new UsageError(`'${text}' is no time to wait: give 1s or more`);
  return ms;
}

const onWords = ['1', 'true', 'yes', 'on'];
export const offWords = ['0', 'false', 'no', 'off', ''];

export function parseSwitch(text: string): boolean {
  const value = text.toLowerCase();
  if (onWords.includes(value) || offWords.includes(value)) return onWords.includes(value);
  throw new UsageError(`'${text}' is not one of ${onWords.join(', ')} or ${offWords.slice(0, -1).join(', ')}`);
}

/** Ignores case. */
export function parseChoice(text: string, choices: readonly string[]): string {
  const chosen = choices.find((one) => one.toLowerCase() === text.toLowerCase());
  if (chosen !== undefined) return chosen;
  throw new UsageError(`'${text}' is not one of ${choices.join(', ')}`);
}

export function parseBoolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new UsageError(`'${text}' is neither true nor false`);
  return text === 'true';
}

export type Feature = readonly [name: string, value: boolean | number | string];

/** `NAME` switches a feature on; `NAME=VALUE` gives it a value, read as true, false or a number where it is one. */
export function parseFeature(text: string): Feature {
  const [name, value] = splitEntry(text, 'NAME or NAME=VALUE');
  return [name, value === undefined ? true : readValue(value)];
}

/** A text as true, false or a number, where it is one. */
export function readValue(text: string): boolean | number | string {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

/** `NAME=VALUE` of free metadata. The value stays text: an order number may begin with 0. */
export function parseMetadata(text: string): readonly [name: string, value: string] {
  const [name, value] = parseComponent(text);
  checkFree(name, { features: '--feature', is_trial: '--trial' });
  return [name, value];
}

export function parseComponent(text: string): readonly [name: string, value: string] {
  const [name, value] = splitEntry(text, 'NAME=VALUE');
  if (value === undefined) throw new UsageError(`'${name.slice(0, 40)}' has no value; write NAME=VALUE`);
  return [name, value];
}

export function parseMetadataName(name: string): string {
  checkFree(name, { features: '--remove-feature', is_trial: '--trial false' });
  return name;
}

/** Throws `UsageError` for members of metadata that have options of their own. */
function checkFree(name: string, options: Readonly<Record<string, string>>): void {
  if (Object.hasOwn(options, name)) throw new UsageError(`${name} has an option of its own: ${options[name]}`);
}

function splitEntry(text: string, form: string): [name: string, value: string | undefined] {
  const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  if (name === '') throw new UsageError(`'${text.slice(0, 40)}' has no name; write ${form}`);
  // A JSON record cannot contain it.
  if (name === '__proto__') throw new UsageError(`nothing can be called ${name}`);
  return [name, value];
}
