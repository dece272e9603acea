import { expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { addDuration, addSeconds, earlier, epochSeconds, instantsOf, toInstant } from '../../src/domain/time.ts';

const at = (text: string) => text as Instant;
const none = { years: 0, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0, seconds: 0 };

it('writes milliseconds since 1970 as an instant that sorts, and refuses what is no number', () => {
  expect([0, 1_796_000_000_007, 8.64e15, Number.POSITIVE_INFINITY, -8.64e15].map(toInstant)).toEqual([
    '1970-01-01T00:00:00.000Z',
    '2026-11-30T00:53:20.007Z',
    '9999-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59.999Z',
    '0000-01-01T00:00:00.000Z',
  ]);
  expect(() => toInstant(Number.NaN)).toThrow(RangeError);
});

it.each([
  ['2026-11-21T10:00:00.123Z', 60, '2026-11-21T10:01:00.123Z'],
  ['2026-11-21T10:00:00.123Z', -1, '2026-11-21T09:59:59.123Z'],
  ['2028-02-28T23:59:59.999Z', 1, '2028-02-29T00:00:00.999Z'],
  ['9999-12-31T23:59:59.000Z', 1, '9999-12-31T23:59:59.999Z'],
  ['2026-11-21T10:00:00.000Z', 1e15, '9999-12-31T23:59:59.999Z'],
])('goes from %s by %d s to %s', (from, seconds, to) => {
  expect(addSeconds(at(from), seconds)).toBe(to);
});

it.each([
  ['2026-12-31T23:59:59.999Z', { months: 1 }, '2027-01-31T23:59:59.999Z'],
  ['2026-01-28T00:00:00.000Z', { months: 1 }, '2026-02-28T00:00:00.000Z'],
  ['2026-01-29T00:00:00.000Z', { months: 1 }, '2026-02-28T00:00:00.000Z'],
  ['2028-01-31T12:00:00.000Z', { months: 1 }, '2028-02-29T12:00:00.000Z'],
  ['2100-01-31T12:00:00.000Z', { months: 1 }, '2100-02-28T12:00:00.000Z'],
  ['2026-03-31T00:00:00.001Z', { months: 1 }, '2026-04-30T00:00:00.001Z'],
  ['0000-01-31T00:00:00.000Z', { months: 1 }, '0000-02-29T00:00:00.000Z'],
  ['0099-12-31T00:00:00.000Z', { months: 1 }, '0100-01-31T00:00:00.000Z'],
  ['9999-12-01T00:00:00.000Z', { months: 1 }, '9999-12-31T23:59:59.999Z'],
  ['2026-11-21T10:11:12.345Z', { years: 1 }, '2027-11-21T10:11:12.345Z'],
  ['2028-02-29T10:00:00.000Z', { years: 1 }, '2029-02-28T10:00:00.000Z'],
  ['2028-02-29T10:00:00.000Z', { years: 4 }, '2032-02-29T10:00:00.000Z'],
  ['2027-10-31T10:00:00.000Z', { months: 4 }, '2028-02-29T10:00:00.000Z'],
  ['2026-01-31T10:00:00.000Z', { months: 1, days: 1 }, '2026-03-01T10:00:00.000Z'],
  ['2026-03-28T12:00:00.000Z', { weeks: 1, days: 2 }, '2026-04-06T12:00:00.000Z'],
  ['2026-12-31T23:00:00.000Z', { hours: 1, minutes: 2, seconds: 3 }, '2027-01-01T00:02:03.000Z'],
  ['2026-12-31T23:00:00.000Z', {}, '2026-12-31T23:00:00.000Z'],
  ['9999-12-31T00:00:00.000Z', { days: 1 }, '9999-12-31T23:59:59.999Z'],
  ['9999-01-01T00:00:00.000Z', { years: 9999, months: 9999 }, '9999-12-31T23:59:59.999Z'],
])('goes from %s by %o to %s', (from, duration, to) => {
  expect(addDuration(at(from), { ...none, ...duration })).toBe(to);
});

it('reads the clock anew each time, backwards too', () => {
  const times = [0, 0, 1, 86_400_000, 1];
  const now = instantsOf(() => times.shift() ?? Number.NaN);
  expect(times.slice().map(() => now())).toEqual([
    '1970-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.001Z',
    '1970-01-02T00:00:00.000Z',
    '1970-01-01T00:00:00.001Z',
  ]);
  expect(now).toThrow(RangeError);
});

it('counts whole seconds since 1970, rounded down', () => {
  const texts = ['1970-01-01T00:00:01.999Z', '1970-01-01T00:00:02.000Z', '1969-12-31T23:59:59.999Z'];
  expect(texts.map((text) => epochSeconds(at(text)))).toEqual([1, 2, -1]);
});

it('finds the earlier of two instants, where null means never', () => {
  const [soon, late] = [at('2026-11-21T10:00:00.000Z'), at('2026-11-21T10:00:00.001Z')];
  expect([earlier(soon, late), earlier(late, soon), earlier(soon, null), earlier(null, soon)]).toEqual(
    Array(4).fill(soon),
  );
  expect(earlier(null, null)).toBeNull();
});
