import { hasKeyShape, isMaskedKey, isTypo, normaliseKey } from '../../domain/license-key.ts';
import { argument, negation } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { readReference } from './files.ts';

const licenseKey = { field: 'licenseKey', pick: 'key', parse: parseLicenseKey, secret: true } as const;
const unlessFile = { ...licenseKey, neededUnless: 'file' } as const;

const describeKey = 'the licence key, - for stdin, or @FILE';
const describeKeys = 'the licence keys; - for stdin, or @FILE, with a key on each line';
const licenseKeys = { ...licenseKey, parse: parseLicenseKeys } as const;

/** `-` and `@FILE` keep the key out of the shell's history. */
export const licenseKeyArgument = argument('<KEY>', describeKey, licenseKey);

export const keyUnlessFile = argument('[KEY]', describeKey, unlessFile);
export const keysUnlessFile = argument('[KEY...]', describeKeys, { ...licenseKeys, neededUnless: 'file' });
/** With arguments behind it, several keys come from stdin or a file only. */
export const keysOfLine = argument('[KEY]', 'the licence key; - for stdin, or @FILE, with a key on each line', {
  ...licenseKeys,
  neededUnless: 'file',
});
export const keysUnlessCustomer = argument('[KEY...]', describeKeys, {
  ...licenseKeys,
  neededUnless: ['file', 'fromCustomer'],
});

/** Without the check, a key that only looks like ours is sent unchanged. */
export const keyCheck = negation('--no-key-check', 'send the key exactly as given, without looking for typos', {
  env: 'LKM_KEY_CHECK',
});

/** Throws `UsageError` for a key with a typo. */
export async function parseLicenseKey(
  text: string,
  io: Io,
  options: Readonly<Record<string, unknown>>,
): Promise<string> {
  return checkKey(await readReference(text, io), options);
}

/** One key per line of `-` and `@FILE`. */
async function parseLicenseKeys(text: string, io: Io, options: Readonly<Record<string, unknown>>): Promise<string[]> {
  const lines = (await readReference(text, io)).split(/\r\n|\r|\n/).map((line) => line.trim());
  return lines.filter(Boolean).map((line) => checkKey(line, options));
}

function checkKey(given: string, { keyCheck }: Readonly<Record<string, unknown>>): string {
  if (keyCheck === false) return given;
  const end = shownEndOf(given);
  if (end !== null) return `${END_MARK}${end}`;
  const key = readWholeKey(normaliseWrittenKey(given));
  if (isTypo(key)) {
    throw new UsageError('the key has a typo: its last character does not match the others', [
      'Nothing was sent. Compare it with the key that was issued.',
      ['A key of another service:', '--no-key-check sends it as it is'],
    ]);
  }
  return key;
}

/** Marks the end of a key, which is looked up before the command runs. */
export const END_MARK = '…';

/** The visible end of a masked key, or the last characters of a key; whole keys are longer. Null for other text. */
const shownEndOf = (text: string): string | null =>
  /^(?:…|\.{3}|(?:\*+-?)+)?([^\s*.…-]{4,5})$/u.exec(text.trim())?.[1] ?? null;

/** A key in a file, normalised if lkm has made it. Throws `UsageError` for a masked key. */
export const readKeyCell = (text: string): string => readWholeKey(isTypo(text) ? text : normaliseWrittenKey(text));

/**
 * Restores separators that a mail or text program changed to spaces, other dashes or nothing, if the check character
 * confirms that lkm has made the key. Other keys stay unchanged.
 */
export function normaliseWrittenKey(text: string): string {
  const symbols = text.replaceAll(/[\s\p{Dash}\p{Cf}]/gu, '');
  const key = (symbols.match(/.{1,5}/gu) ?? []).join('-');
  return normaliseKey(hasKeyShape(key) && !isTypo(key) ? key : text);
}

/** Throws `UsageError` if the service masks the keys. */
export function wholeKeys(keys: readonly string[]): readonly string[] {
  if (!keys.some(isMaskedKey)) return keys;
  throw new UsageError('the keys are masked: the token lacks license:reveal', ['Nothing was sent.']);
}

function readWholeKey(key: string): string {
  if (!isMaskedKey(key)) return key;
  throw new UsageError('the key is masked, so it names no licence', [
    'Give the whole key; a token with license:reveal shows it.',
  ]);
}
