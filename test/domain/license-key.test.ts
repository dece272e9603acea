import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LicenseKey } from '../../src/contract/scalars.ts';
import { alphabet } from '../../src/domain/crockford.ts';
import {
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
const foreign = fc.string({ unit: 'grapheme', minLength: 23, maxLength: 60 });
const symbolAt = fc.nat({ max: 24 }).map((symbol) => symbol + Math.floor(symbol / 5));

describe('mintKey', () => {
  it('writes the bytes in five sections of five, the last character a check', () => {
    expect(mintKey(new Uint8Array(15))).toBe('00000-00000-00000-00000-00000');
    expect(mintKey(Uint8Array.from({ length: 15 }, (_, at) => at))).toBe('000G4-0R40M-30E20-9185G-R38ED');
  });

  it('makes keys that are whole and already as they are stored', () => {
    fc.assert(
      fc.property(minted, (key) => {
        expect(key).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}$/);
        expect(isTypo(key)).toBe(false);
        expect(normaliseKey(key)).toBe(key);
      }),
    );
  });

  it('makes different keys of different bytes', () => {
    fc.assert(
      fc.property(random, random, (a, b) => {
        expect(mintKey(a) === mintKey(b)).toBe(Buffer.compare(a, b) === 0);
      }),
    );
  });

  it.each([0, 14, 16])('refuses %d random bytes', (length) => {
    expect(() => mintKey(new Uint8Array(length))).toThrow(RangeError);
  });
});

describe('isTypo', () => {
  it('finds every single wrong character', () => {
    fc.assert(
      fc.property(minted, (key) => {
        for (const at of positionsOf(key)) {
          for (const wrong of alphabet.replace(key.charAt(at), '')) {
            expect(isTypo(key.slice(0, at) + wrong + key.slice(at + 1))).toBe(true);
          }
        }
      }),
      { numRuns: 20 },
    );
  });

  it('finds every swap of two different characters, near or far', () => {
    fc.assert(
      fc.property(minted, (key) => {
        for (const a of positionsOf(key)) {
          for (const b of positionsOf(key)) expect(isTypo(swap(key, a, b))).toBe(key[a] !== key[b]);
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
  ])('never takes %s for a typo', (_, key) => {
    expect(isTypo(key)).toBe(false);
  });
});

describe('normaliseKey', () => {
  it('reads a key typed in lower case, with spaces around it and letters that look like digits', () => {
    fc.assert(
      fc.property(minted, fc.constantFrom('I', 'i', 'L', 'l'), fc.constantFrom('O', 'o'), (key, one, zero) => {
        const typed = ` ${key.toLowerCase().replaceAll('1', one).replaceAll('0', zero)}\n`;
        expect(normaliseKey(typed)).toBe(key);
        expect(isTypo(typed)).toBe(false);
      }),
    );
  });

  it('finds a wrong character in a key typed that way too', () => {
    fc.assert(
      fc.property(minted, symbolAt, (key, at) => {
        const wrong = alphabet.charAt((alphabet.indexOf(key.charAt(at)) + 1) % 32);
        expect(isTypo(` ${key.slice(0, at)}${wrong}${key.slice(at + 1)} `.toLowerCase())).toBe(true);
      }),
    );
  });

  it.each([
    [' 6f1b0e3a-6a4e-4b0e-9f55-0d6a2f0d1c11 ', '6f1b0e3a-6a4e-4b0e-9f55-0d6a2f0d1c11'],
    ['loil-loil-loil-loil-loil', 'loil-loil-loil-loil-loil'],
    ['ſ1111-11111-11111-11111-11111', 'ſ1111-11111-11111-11111-11111'],
  ])('changes nothing else in a key of another format: %s', (written, stored) => {
    expect(normaliseKey(written)).toBe(stored);
  });
});

describe('hasKeyShape', () => {
  it.each([
    ['00000-00000-00000-00000-00001', true],
    ['aaaaa-aaaaa-aaaaa-aaaaa-aaaaa', true],
    ['00000-00000-00000-00000-0000', false],
    ['00000-00000-00000-00000-00000\n', false],
  ])('answers for %j: %s', (text, answer) => {
    expect(hasKeyShape(text)).toBe(answer);
  });
});

function positionsOf(key: string): number[] {
  return Array.from(key, (_, at) => at).filter((at) => key[at] !== '-');
}

function swap(key: string, a: number, b: number): string {
  const symbols = [...key];
  [symbols[a], symbols[b]] = [key.charAt(b), key.charAt(a)];
  return symbols.join('');
}

describe('showKey', () => {
  it.each([
    ['7Q2RM-K9X0B-3FTW6-HN4ZD-85SB5', '*****-*****-*****-*****-85SB5'],
    ['6f1b0e3a-6a4e-4b0e-9f55-0d6a2f0d1c11', '********************************1c11'],
    ['ABCDEFGHIJKLMNOPQRSTUVW', '*******************TUVW'],
    ['😀😀😀😀😀😀😀😀😀😀😀😀', '********😀😀😀😀'],
  ])('masks %s as %s', (key, masked) => {
    expect(showKey(key as LicenseKey, false)).toBe(masked);
  });

  it('is known from a key, also from one that has stars', () => {
    fc.assert(
      fc.property(fc.oneof(minted, foreign), (key) => {
        expect(isMaskedKey(showKey(key as LicenseKey, false))).toBe(true);
      }),
    );
    for (const key of ['ABCDE*FGHIJ*KLMNO*PQRST*UVWXY', '*AAAA-BBBBB-CCCCC-DDDDD-EEEE', '***AAAA-BBBBB-CCCCC-DDDDD']) {
      expect(isMaskedKey(key)).toBe(false);
    }
  });

  it('masks a key of ours down to its last section', () => {
    fc.assert(
      fc.property(minted, (key) => {
        expect(showKey(key, false)).toBe(`*****-*****-*****-*****-${key.slice(24)}`);
      }),
    );
  });

  it('hides all but the last four characters of any other key', () => {
    fc.assert(
      fc.property(foreign, (key) => {
        const shown = Array.from(showKey(key as LicenseKey, false));
        expect(new Set(shown.slice(0, -4))).toEqual(new Set('*'));
        expect(shown.slice(-4)).toEqual(Array.from(key).slice(-4));
        expect(shown).toHaveLength(Array.from(key).length);
      }),
    );
  });

  it('shows a key in full to those who see secrets, and where it is issued', () => {
    fc.assert(
      fc.property(minted, (key) => {
        expect(showKey(key, true)).toBe(key);
        expect(revealKey(key)).toBe(key);
      }),
    );
  });
});
