import type { LicenseKey, ShownKey } from '../contract/scalars.ts';
import { alphabet, encodeCrockford } from './crockford.ts';

/** A key as people write it: in any case, with I, L and O for the digits 1, 1 and 0. U stands for no digit. */
const writtenShape = /^[0-9A-TV-Z]{5}(?:-[0-9A-TV-Z]{5}){4}$/i;

/** Makes a licence key from 15 random bytes: 24 symbols and a check, in five sections. Throws `RangeError` for other numbers. */
export function mintKey(random: Uint8Array): LicenseKey {
  if (random.length !== 15) throw new RangeError(`a licence key takes 15 random bytes, not ${random.length}`);
  const body = encodeCrockford(random);
  const symbols = body + alphabet.charAt(timesAlpha(syndromeOf(body)));
  return (symbols.match(/.{5}/g) ?? []).join('-') as LicenseKey;
}

/** Whether the text has the form of the keys made here, the check character apart. */
export const hasKeyShape = (text: string): boolean => writtenShape.test(text);

/** A key of our shape in upper case, with I and L read as 1 and O as 0; a key of another format without spaces around it. */
export function normaliseKey(text: string): string {
  const key = text.trim();
  return hasKeyShape(key) ? key.toUpperCase().replaceAll(/[IL]/g, '1').replaceAll('O', '0') : key;
}

/**
 * A key as the service stores and finds it. A key of our shape is in upper case; its I, L and O are read as digits if the check
 * character then fits. If it does not fit, the key is of another format, and is left unchanged.
 */
export function canonicalKey<Key extends string>(key: Key): Key {
  const isForeign = !hasKeyShape(key) || (/[ILO]/i.test(key) && isTypo(key));
  return isForeign ? key : (normaliseKey(key) as Key);
}

/** Whether the text has our shape and a wrong check character. A key of another format is never a typo. */
export function isTypo(text: string): boolean {
  const key = normaliseKey(text);
  return hasKeyShape(key) && syndromeOf(key.replaceAll('-', '')) !== 0;
}

/** A key as the caller may see it; masked, with its last section or at most four characters. Source: API description, GET /key. */
export const showKey = (key: LicenseKey, seesSecrets: boolean): ShownKey => shown(seesSecrets ? key : maskKey(key));

/** A key in full, for the reply that issues it, whatever the caller's rights. Source: API description, POST /create-key. */
export const revealKey = (key: LicenseKey): ShownKey => shown(key);

const shown = (text: string): ShownKey => text as ShownKey;

/** How many characters of a key of another format are hidden at least, or all of a shorter key. */
const MIN_HIDDEN = 8;

function maskKey(key: string): string {
  if (hasKeyShape(key)) return `*****-*****-*****-*****-${key.slice(-5)}`;
  const symbols = Array.from(key);
  const hidden = symbols.length - Math.max(0, Math.min(4, symbols.length - MIN_HIDDEN));
  return '*'.repeat(hidden) + symbols.slice(hidden).join('');
}

/** Whether a text is a key as it is shown masked. A key of another format may have stars of its own. */
export const isMaskedKey = (text: string): boolean =>
  /^(?:(?:\*{5}-){4}.{5}|\*{6,7}|\*{8}.{0,4}|\*{9,}.{4})$/su.test(text);

/**
 * The sum of the symbols over GF(32), the last symbol weighted α⁰, the symbol before it α¹, and so on: 0 for a whole key. α
 * has order 31, so the 25 weights differ and none is 0: a key with one wrong symbol or two swapped symbols never has the sum
 * 0.
 */
function syndromeOf(symbols: string): number {
  let sum = 0;
  for (const symbol of symbols) sum = timesAlpha(sum) ^ alphabet.indexOf(symbol);
  return sum;
}

/** Multiplies by α, a root of the primitive polynomial x⁵ + x² + 1. */
const timesAlpha = (value: number): number => (value & 0b10000 ? (value << 1) ^ 0b100101 : value << 1);
