import fc from 'fast-check';
import { TypeID } from 'typeid-js';
import { expect, it } from 'vitest';
import { createIdSequence, idTime, newId } from '../../src/domain/ids.ts';
import { toInstant } from '../../src/domain/time.ts';

const random = fc.uint8Array({ minLength: 10, maxLength: 10 });
const epochMs = fc.nat({ max: 253_402_300_799_999 });
const zeros = new Uint8Array(10);

it('writes the UUIDv7 of the instant and the bytes as a TypeID', () => {
  const id = newId('lic', toInstant(0x017f22e279b0), Buffer.from('ccc3d8c4dc0c0c07398f', 'hex'));
  expect(TypeID.fromString(id).toUUID()).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
  expect(id).toBe('lic_01fwhe4ydgfk1shh6w1g60eecf');
});

it('makes ids of one form that sort by time and tell it, whatever the bytes', () => {
  fc.assert(
    fc.property(epochMs, epochMs, random, random, (a, b, bytes, others) => {
      fc.pre(a < b);
      const id = newId('prod', toInstant(a), bytes);
      expect(id).toMatch(/^prod_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      expect(id < newId('prod', toInstant(b), others)).toBe(true);
      expect(idTime(id)).toBe(toInstant(a));
    }),
  );
});

it('keeps 74 of the 80 random bits', () => {
  const flipped = Array.from({ length: 80 }, (_, bit) => {
    const bytes = new Uint8Array(10);
    bytes[bit >> 3] = 0x80 >> (bit & 7);
    return newId('evt', toInstant(0), bytes);
  });
  expect(new Set([...flipped, newId('evt', toInstant(0), zeros)]).size).toBe(75);
});

it('refuses another number of random bytes, and an instant before 1970', () => {
  for (const length of [9, 11]) expect(() => newId('acc', toInstant(0), new Uint8Array(length))).toThrow(RangeError);
  expect(() => newId('acc', toInstant(-1), zeros)).toThrow(RangeError);
});

it('sorts a sequence in the order of making, within a millisecond and when the clock steps back', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 3 }), { minLength: 2, maxLength: 50 }), random, (steps, bytes) => {
      const next = createIdSequence(() => bytes);
      const ids = steps.map((step) => next('aud', toInstant(1_000_000 + step)));
      expect([...new Set(ids)].toSorted()).toEqual(ids);
    }),
  );
});

it('goes on with a sequence in the next millisecond when one has had all its ids', () => {
  const next = createIdSequence((length) => new Uint8Array(length).fill(0xff));
  const ids = Array.from({ length: 10_000 }, () => next('evt', toInstant(1_000_000)));
  expect([...new Set(ids)].toSorted()).toEqual(ids);
});

it('writes the time into a sequence while the clock goes on', () => {
  const next = createIdSequence(() => zeros);
  const instants = [1, 2, 3].map(toInstant);
  expect(instants.map((now) => idTime(next('evt', now)))).toEqual(instants);
});
