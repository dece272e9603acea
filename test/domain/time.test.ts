import { expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import {
  addDuration,
  addSeconds,
  earlier,
  epochSeconds,
  expiryAfter,
  expiryFromNow,
  instantsOf,
  toInstant,
} from '../../src/domain/time.ts';

const at = (text: string) => text as Instant;

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
  expect(addDuration(at(from), duration)).toBe(to);
});

it.each([
  ['2026-11-21T10:11:12.345Z', { years: 1 }, '2027-11-21T23:59:59.000Z'],
  ['2026-11-21T23:59:59.500Z', { days: 1 }, '2026-11-22T23:59:59.000Z'],
  ['2026-01-31T00:00:00.000Z', { months: 1 }, '2026-02-28T23:59:59.000Z'],
  ['2026-11-21T10:11:12.345Z', { days: 1, hours: 2 }, '2026-11-22T12:11:12.345Z'],
  ['9999-12-01T00:00:00.000Z', { months: 1 }, '9999-12-31T23:59:59.000Z'],
])('from %s on, %o ends at %s: with its day, unless it has hours', (from, duration, to) => {
  expect(expiryFromNow(at(from), duration).expirationDate).toBe(to);
});

const month = { months: 1 };
const year = { years: 1 };

it.each([
  // Of a short month the last day; then again the day that it was at first.
  ['2027-01-31', Array(5).fill(month), ['2027-02-28/31', '2027-03-31', '2027-04-30/31', '2027-05-31', '2027-06-30/31']],
  ['2028-01-31', Array(2).fill(month), ['2028-02-29/31', '2028-03-31']],
  ['2027-01-30', Array(2).fill(month), ['2027-02-28/30', '2027-03-30']],
  ['2028-01-30', Array(2).fill(month), ['2028-02-29/30', '2028-03-30']],
  ['2027-01-29', Array(2).fill(month), ['2027-02-28/29', '2027-03-29']],
  ['2028-01-29', Array(2).fill(month), ['2028-02-29', '2028-03-29']],
  // The last day of a month is a day like others.
  ['2027-02-28', Array(2).fill(month), ['2027-03-28', '2027-04-28']],
  ['2027-04-30', Array(2).fill(month), ['2027-05-30', '2027-06-30']],
  ['2027-08-31', Array(3).fill({ months: 3 }), ['2027-11-30/31', '2028-02-29/31', '2028-05-31']],
  ['2027-01-31', [{ years: 1, months: 1 }, year, month], ['2028-02-29/31', '2029-02-28/31', '2029-03-31']],
  ['2028-02-29', Array(4).fill(year), ['2029-02-28/29', '2030-02-28/29', '2031-02-28/29', '2032-02-29']],
  ['2100-01-31', Array(2).fill(month), ['2100-02-28/31', '2100-03-31']],
  // Days and times move the day.
  ['2027-01-31', [month, { days: 3 }, month], ['2027-02-28/31', '2027-03-03', '2027-04-03']],
  ['2027-01-31', [month, { weeks: 1 }, month], ['2027-02-28/31', '2027-03-07', '2027-04-07']],
  ['2027-01-31', [{ months: 1, hours: 1 }, month], ['2027-02-28', '2027-03-28']],
  ['2027-01-31', [month, {}, month], ['2027-02-28/31', '2027-02-28/31', '2027-03-31']],
  ['9999-12-15', [month, { days: 1 }], ['9999-12-31', '9999-12-31']],
])('leads from %s by %o to %j', (start, durations, ends) => {
  let expiry: ReturnType<typeof expiryAfter> = { expirationDate: at(`${start}T10:00:00.000Z`), renewalDay: null };
  const found = durations.map((duration: object) => {
    expiry = expiryAfter(expiry.expirationDate, duration, expiry.renewalDay);
    return expiry.expirationDate.slice(0, 10) + (expiry.renewalDay === null ? '' : `/${expiry.renewalDay}`);
  });
  expect(found).toEqual(ends);
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
