import { hasKeyShape, isMaskedKey, isTypo, normaliseKey } from '../../domain/license-key.ts';
import { argument, negation } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { readReference } from './files.ts';

const licenseKey = { field: 'licenseKey', pick: 'key', parse: parseLicenseKey, secret: true } as const;
const unlessFile = { ...licenseKey, neededUnless: 'file' } as const;

const describeKey = 'the licence key, - for stdin, or @FILE';
const describeKeys = 'the licence keys, each as it is; - for stdin, or @FILE, with one on each line';
const licenseKeys = { ...licenseKey, parse: parseLicenseKeys } as const;

/** The KEY argument of a command: the key itself, `-` for stdin or `@FILE`, which stay out of the shell's history. */
export const licenseKeyArgument = argument('<KEY>', describeKey, licenseKey);

/** The same for a command that can also take keys from a file. */
export const keyUnlessFile = argument('[KEY]', describeKey, unlessFile);
export const keysUnlessFile = argument('[KEY...]', describeKeys, { ...licenseKeys, neededUnless: 'file' });
/** The same where other arguments follow: several only from stdin or a file. */
export const keysOfLine = argument('[KEY]', 'the licence key; - for stdin, or @FILE, with one on each line', {
  ...licenseKeys,
  neededUnless: 'file',
});
export const keysUnlessCustomer = argument('[KEY...]', describeKeys, {
  ...licenseKeys,
  neededUnless: ['file', 'fromCustomer'],
});

/** The option beside that argument: without its check, a key that only looks like ours is sent as it is given. */
export const keyCheck = negation('--no-key-check', 'send the key exactly as given, without looking for typos', {
  env: 'LKM_KEY_CHECK',
});

/** Reads a licence key: the key itself, `-` for stdin or `@FILE`. Throws `UsageError` for one with a typo. */
export async function parseLicenseKey(
  text: string,
  io: Io,
  options: Readonly<Record<string, unknown>>,
): Promise<string> {
  return checkKey(await readReference(text, io), options);
}

/** Reads licence keys: one, or with `-` and `@FILE` one from each line that is not empty. */
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

/** Stands in front of the end of a key, by which the key is looked up before a command runs. */
export const END_MARK = '…';

/** What a masked key shows, or its last characters, which no whole key is as short as; null for anything else. */
const shownEndOf = (text: string): string | null =>
  /^(?:…|\.{3}|(?:\*+-?)+)?([^\s*.…-]{4,5})$/u.exec(text.trim())?.[1] ?? null;

/** A key in a file: as it is stored where it is one of ours, as it is otherwise. Throws `UsageError` for a masked one. */
export const readKeyCell = (text: string): string => readWholeKey(isTypo(text) ? text : normaliseWrittenKey(text));

/**
 * The key as it is stored, also when a mail or a text program has changed its separators: spaces, other dashes, or none.
 * Such a text is one of ours only when its check character says so: keys of another format are left as they are.
 */
function normaliseWrittenKey(text: string): string {
  const symbols = text.replaceAll(/[\s\p{Dash}\p{Cf}]/gu, '');
  const key = (symbols.match(/.{1,5}/gu) ?? []).join('-');
  return normaliseKey(hasKeyShape(key) && !isTypo(key) ? key : text);
}

/** Keys as the service lists them, for a change. Throws `UsageError` where it lists them masked. */
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
