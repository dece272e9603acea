import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alphabet, encodeCrockford } from '../../src/domain/crockford.ts';

describe('encodeCrockford', () => {
  it.each([
    [[], ''],
    [[0x00], '00'],
    [[0xff], 'ZW'],
    [[0xff, 0xff, 0xff, 0xff, 0xff], 'ZZZZZZZZ'],
    [[0x00, 0x44, 0x32, 0x14, 0xc7], '01234567'],
  ])('writes %j as %s', (bytes, text) => {
    expect(encodeCrockford(Uint8Array.from(bytes))).toBe(text);
  });

  it('writes the bits of the bytes, filled up with zeros to a multiple of five', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const given = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
        const written = Array.from(encodeCrockford(bytes), (symbol) =>
          alphabet.indexOf(symbol).toString(2).padStart(5, '0'),
        ).join('');
        expect(written).toBe(given.padEnd(Math.ceil(given.length / 5) * 5, '0'));
      }),
    );
  });
});

describe('alphabet', () => {
  it('has 32 symbols, in ascending order and without the letters I, L, O and U', () => {
    expect(alphabet).toHaveLength(32);
    expect([...alphabet].sort().join('')).toBe(alphabet);
    expect(alphabet).not.toMatch(/[ILOU]/);
  });
});
