import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import {
  addCalendarMonth,
  addDuration,
  addSeconds,
  earlier,
  epochSeconds,
  instantsOf,
  toInstant,
} from '../../src/domain/time.ts';

const at = (text: string) => text as Instant;
const instant = fc
  .date({ min: new Date('0000-01-01T00:00:00.000Z'), max: new Date('9999-11-30T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => at(date.toISOString()));

describe('toInstant', () => {
  it.each([
    [0, '1970-01-01T00:00:00.000Z'],
    [1_796_000_000_007, '2026-11-30T00:53:20.007Z'],
    [8.64e15, '9999-12-31T23:59:59.999Z'],
    [Number.POSITIVE_INFINITY, '9999-12-31T23:59:59.999Z'],
    [-8.64e15, '0000-01-01T00:00:00.000Z'],
  ])('writes %d ms as %s', (epochMs, text) => {
    expect(toInstant(epochMs)).toBe(text);
  });

  it('refuses NaN', () => {
    expect(() => toInstant(Number.NaN)).toThrow(RangeError);
  });
});

describe('addSeconds', () => {
  it.each([
    ['2026-11-21T10:00:00.123Z', 60, '2026-11-21T10:01:00.123Z'],
    ['2026-11-21T10:00:00.123Z', -1, '2026-11-21T09:59:59.123Z'],
    ['2028-02-28T23:59:59.999Z', 1, '2028-02-29T00:00:00.999Z'],
    ['9999-12-31T23:59:59.000Z', 1, '9999-12-31T23:59:59.999Z'],
    ['2026-11-21T10:00:00.000Z', 1e15, '9999-12-31T23:59:59.999Z'],
  ])('goes from %s by %d s to %s', (from, seconds, to) => {
    expect(addSeconds(at(from), seconds)).toBe(to);
  });
});

describe('addCalendarMonth', () => {
  it.each([
    ['2026-11-21T10:11:12.345Z', '2026-12-21T10:11:12.345Z'],
    ['2026-12-31T23:59:59.999Z', '2027-01-31T23:59:59.999Z'],
    ['2026-01-28T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
    ['2026-01-29T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
    ['2026-01-31T12:00:00.000Z', '2026-02-28T12:00:00.000Z'],
    ['2028-01-31T12:00:00.000Z', '2028-02-29T12:00:00.000Z'],
    ['2100-01-31T12:00:00.000Z', '2100-02-28T12:00:00.000Z'],
    ['2026-02-28T00:00:00.000Z', '2026-03-28T00:00:00.000Z'],
    ['2026-03-31T00:00:00.001Z', '2026-04-30T00:00:00.001Z'],
    ['2026-08-31T00:00:00.000Z', '2026-09-30T00:00:00.000Z'],
    ['0000-01-31T00:00:00.000Z', '0000-02-29T00:00:00.000Z'],
    ['0099-12-31T00:00:00.000Z', '0100-01-31T00:00:00.000Z'],
    ['9999-12-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
  ])('goes from %s to %s', (from, to) => {
    expect(addCalendarMonth(at(from))).toBe(to);
  });

  it('always ends in the next month, at the same time of day, on the same day or that month’s last', () => {
    fc.assert(
      fc.property(instant, (from) => {
        const [start, end] = [new Date(from), new Date(addCalendarMonth(from))];
        const dayAfter = new Date(end.getTime() + 86_400_000);
        expect(end.getUTCMonth()).toBe((start.getUTCMonth() + 1) % 12);
        expect(end.toISOString().slice(11)).toBe(from.slice(11));
        expect(end.getUTCDate() === start.getUTCDate() || dayAfter.getUTCDate() === 1).toBe(true);
      }),
    );
  });
});

describe('addDuration', () => {
  const none = { years: 0, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0, seconds: 0 };

  it.each([
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

  it('of one month is the calendar month', () => {
    fc.assert(
      fc.property(instant, (from) => {
        expect(addDuration(from, { ...none, months: 1 })).toBe(addCalendarMonth(from));
      }),
    );
  });
});

describe('instantsOf', () => {
  it('reads the clock anew each time, backwards too', () => {
    const times = [0, 0, 1, 86_400_000, 1, Number.NaN];
    const now = instantsOf(() => times.shift() ?? 0);
    expect([now(), now(), now(), now(), now()]).toEqual([
      '1970-01-01T00:00:00.000Z',
      '1970-01-01T00:00:00.000Z',
      '1970-01-01T00:00:00.001Z',
      '1970-01-02T00:00:00.000Z',
      '1970-01-01T00:00:00.001Z',
    ]);
    expect(now).toThrow(RangeError);
  });
});

describe('epochSeconds', () => {
  it.each([
    ['1970-01-01T00:00:01.999Z', 1],
    ['1970-01-01T00:00:02.000Z', 2],
    ['1969-12-31T23:59:59.999Z', -1],
  ])('counts %s as %d', (instant, seconds) => {
    expect(epochSeconds(at(instant))).toBe(seconds);
  });
});

describe('earlier', () => {
  const [soon, late] = [at('2026-11-21T10:00:00.000Z'), at('2026-11-21T10:00:00.001Z')];
  it.each([
    [soon, late, soon],
    [late, soon, soon],
    [soon, null, soon],
    [null, soon, soon],
    [null, null, null],
  ])('of %s and %s is %s', (a, b, answer) => {
    expect(earlier(a, b)).toBe(answer);
  });
});
