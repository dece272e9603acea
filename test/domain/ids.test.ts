import fc from 'fast-check';
import { TypeID } from 'typeid-js';
import { describe, expect, it } from 'vitest';
import { createIdSequence, newId } from '../../src/domain/ids.ts';
import { toInstant } from '../../src/domain/time.ts';

const random = fc.uint8Array({ minLength: 10, maxLength: 10 });
const epochMs = fc.nat({ max: 253_402_300_799_999 });

describe('newId', () => {
  it('writes the UUIDv7 of the instant and the bytes as a TypeID', () => {
    const id = newId('lic', toInstant(0x017f22e279b0), Buffer.from('ccc3d8c4dc0c0c07398f', 'hex'));
    expect(TypeID.fromString(id).toUUID()).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
    expect(id).toBe('lic_01fwhe4ydgfk1shh6w1g60eecf');
  });

  it('is the prefix, an underscore and 26 characters', () => {
    fc.assert(
      fc.property(epochMs, random, (ms, bytes) => {
        expect(newId('prod', toInstant(ms), bytes)).toMatch(/^prod_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      }),
    );
  });

  it('sorts by time, whatever the bytes', () => {
    fc.assert(
      fc.property(epochMs, epochMs, random, random, (a, b, bytes, others) => {
        fc.pre(a < b);
        expect(newId('dev', toInstant(a), bytes) < newId('dev', toInstant(b), others)).toBe(true);
      }),
    );
  });

  it('keeps 74 of the 80 random bits', () => {
    const now = toInstant(0);
    const flipped = Array.from({ length: 80 }, (_, bit) => {
      const bytes = new Uint8Array(10);
      bytes[bit >> 3] = 0x80 >> (bit & 7);
      return newId('evt', now, bytes);
    });
    expect(new Set([...flipped, newId('evt', now, new Uint8Array(10))]).size).toBe(75);
  });

  it.each([9, 11])('refuses %d random bytes', (length) => {
    expect(() => newId('acc', toInstant(0), new Uint8Array(length))).toThrow(RangeError);
  });

  it('refuses an instant before 1970', () => {
    expect(() => newId('acc', toInstant(-1), new Uint8Array(10))).toThrow(RangeError);
  });
});

describe('a sequence of ids', () => {
  it('sorts in the order of making, within a millisecond and when the clock steps back', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 3 }), { minLength: 2, maxLength: 50 }), random, (steps, bytes) => {
        const next = createIdSequence(() => bytes);
        const ids = steps.map((step) => next('aud', toInstant(1_000_000 + step)));
        expect(ids.toSorted()).toEqual(ids);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  it('goes on in the next millisecond when one has had all its ids', () => {
    const next = createIdSequence((length) => new Uint8Array(length).fill(0xff));
    const ids = Array.from({ length: 10_000 }, () => next('evt', toInstant(1_000_000)));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('tells its time, while the clock goes on', () => {
    const next = createIdSequence((length) => new Uint8Array(length));
    expect([1, 2, 3].map((ms) => next('evt', toInstant(ms)))).toEqual(
      [1, 2, 3].map((ms) => newId('evt', toInstant(ms), new Uint8Array(10))),
    );
  });
});
