import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LicenseKey } from '../../src/contract/scalars.ts';
import { alphabet } from '../../src/domain/crockford.ts';
import {
  canonicalKey,
  hasKeyShape,
  isMaskedKey,
  isTypo,
  mintKey,
  normaliseKey,
  revealKey,
  showKey,
} from '../../src/domain/license-key.ts';

const random = fc.uint8Array({ minLength: 15, maxLength: 15 });
const minted = random.map(mintKey);
const foreign = fc.string({ unit: 'grapheme', minLength: 6, maxLength: 60 });

/** The places of a key that hold a symbol. */
const places = Array.from({ length: 25 }, (_, symbol) => symbol + Math.floor(symbol / 5));

describe('a key that is made', () => {
  it('has the bytes in five sections of five, the last character a check', () => {
    expect(mintKey(new Uint8Array(15))).toBe('00000-00000-00000-00000-00000');
    expect(mintKey(Uint8Array.from({ length: 15 }, (_, at) => at))).toBe('000G4-0R40M-30E20-9185G-R38ED');
    for (const length of [0, 14, 16]) expect(() => mintKey(new Uint8Array(length))).toThrow(RangeError);
  });

  it('is whole and already as it is stored, and differs where the bytes do', () => {
    fc.assert(
      fc.property(random, random, (bytes, others) => {
        const key = mintKey(bytes);
        expect(key).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}$/);
        expect([isTypo(key), normaliseKey(key)]).toEqual([false, key]);
        expect(mintKey(others) === key).toBe(Buffer.compare(bytes, others) === 0);
      }),
    );
  });
});

describe('a typo', () => {
  it('is every single wrong character, also as people type, and every swap of two different ones', () => {
    fc.assert(
      fc.property(minted, (key) => {
        for (const a of places) {
          for (const wrong of alphabet.replace(key.charAt(a), '')) {
            const written = key.slice(0, a) + wrong + key.slice(a + 1);
            expect([isTypo(written), isTypo(` ${written} `.toLowerCase())]).toEqual([true, true]);
          }
          for (const b of places) expect(isTypo(swap(key, a, b))).toBe(key[a] !== key[b]);
        }
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ['a masked key', '*****-*****-*****-*****-85SB5'],
    ['a key with a letter U', 'U0000-00000-00000-00000-00000'],
    ['a key of four sections', '11111-11111-11111-11111'],
    ['a key of six sections', '11111-11111-11111-11111-11111-11111'],
    ['a UUID', '6f1b0e3a-6a4e-4b0e-9f55-0d6a2f0d1c11'],
    ['nothing', ''],
  ])('is never %s', (_, key) => {
    expect(isTypo(key)).toBe(false);
  });
});

it.each([
  ['in any case', (key: string) => key.toLowerCase()],
  ['with letters that look like its digits', (key: string) => key.replaceAll('1', 'l').replaceAll('0', 'O')],
])('finds a key that was made here %s', (_, write) => {
  fc.assert(
    fc.property(minted, (key) => {
      expect(canonicalKey(write(key))).toBe(key);
    }),
  );
});

it.each([
  ['abcde-fgh23-45678-9jkmn-pqrst', 'ABCDE-FGH23-45678-9JKMN-PQRST'],
  ['AbCdE-fGh23-45678-9jKmN-pQrSt', 'ABCDE-FGH23-45678-9JKMN-PQRST'],
  ['hello-world-abcde-fghjk-mnpqs', 'hello-world-abcde-fghjk-mnpqs'],
  ['abcde-fgh23-45678-9jkmn-pqrsu', 'abcde-fgh23-45678-9jkmn-pqrsu'],
  ['abcde fgh23 45678 9jkmn pqrst', 'abcde fgh23 45678 9jkmn pqrst'],
  ['AbCdE-fGh23-45678-9jKmN-pQrSt-12345', 'AbCdE-fGh23-45678-9jKmN-pQrSt-12345'],
  ['ſ1111-11111-11111-11111-11111', 'ſ1111-11111-11111-11111-11111'],
])('stores %s as %s', (written, stored) => {
  expect(canonicalKey(written)).toBe(stored);
});

it('reads a key typed in lower case, with spaces around it and letters that look like digits', () => {
  fc.assert(
    fc.property(minted, fc.constantFrom('I', 'i', 'L', 'l'), fc.constantFrom('O', 'o'), (key, one, zero) => {
      const typed = ` ${key.toLowerCase().replaceAll('1', one).replaceAll('0', zero)}\n`;
      expect([normaliseKey(typed), isTypo(typed)]).toEqual([key, false]);
    }),
  );
});

it.each([
  [' 6f1b0e3a-6a4e-4b0e-9f55-0d6a2f0d1c11 ', '6f1b0e3a-6a4e-4b0e-9f55-0d6a2f0d1c11'],
  ['loil-loil-loil-loil-loil', 'loil-loil-loil-loil-loil'],
  ['ſ1111-11111-11111-11111-11111', 'ſ1111-11111-11111-11111-11111'],
])('changes nothing but the spaces around a key of another format: %s', (written, stored) => {
  expect(normaliseKey(written)).toBe(stored);
});

it.each([
  ['00000-00000-00000-00000-00001', true],
  ['aaaaa-aaaaa-aaaaa-aaaaa-aaaaa', true],
  ['00000-00000-00000-00000-0000', false],
  ['00000-00000-00000-00000-00000\n', false],
])('%j has the form of the keys made here: %s', (text, answer) => {
  expect(hasKeyShape(text)).toBe(answer);
});

describe('a key as it is shown', () => {
  it.each([
    ['7Q2RM-K9X0B-3FTW6-HN4ZD-85SB5', '*****-*****-*****-*****-85SB5'],
    ['6f1b0e3a-6a4e-4b0e-9f55-0d6a2f0d1c11', '********************************1c11'],
    ['ABCDEFGHIJKLMNOPQRSTUVW', '*******************TUVW'],
    ['ABCD-1234-EFGH', '**********EFGH'],
    ['ABCD-12345', '********45'],
    ['ABC123', '******'],
    ['😀😀😀😀😀😀😀😀😀😀😀😀', '********😀😀😀😀'],
  ])('is masked, %s as %s', (key, masked) => {
    expect(showKey(key as LicenseKey, false)).toBe(masked);
  });

  it('is known from a key, also from one that has stars', () => {
    fc.assert(
      fc.property(fc.oneof(minted, foreign), (key) => {
        expect(isMaskedKey(showKey(key as LicenseKey, false))).toBe(true);
      }),
    );
    const starred = ['ABCDE*FGHIJ*KLMNO*PQRST*UVWXY', '*AAAA-BBBBB-CCCCC-DDDDD-EEEE', '***AAAA-BBBBB-CCCCC-DDDDD'];
    expect(starred.filter(isMaskedKey)).toEqual([]);
  });

  it('is whole for those who see secrets, and where it is issued', () => {
    const key = mintKey(new Uint8Array(15));
    expect([showKey(key, true), revealKey(key)]).toEqual([key, key]);
  });
});

function swap(key: string, a: number, b: number): string {
  const symbols = [...key];
  [symbols[a], symbols[b]] = [key.charAt(b), key.charAt(a)];
  return symbols.join('');
}
