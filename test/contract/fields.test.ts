import { expect, test } from 'vitest';
import { z } from 'zod';
import { durationField, flagField, integerField, listField, parseIsoDuration } from '../../src/contract/fields.ts';

const fields = {
  integer: integerField(1, 1_000),
  flag: flagField(),
  list: listField(['a', 'b', 'c']),
  duration: durationField(),
};

test.each([
  ['integer', '1', 1],
  ['integer', '1000', 1_000],
  ['flag', 'true', true],
  ['flag', 'false', false],
  ['list', 'a', ['a']],
  ['list', 'b,a', ['b', 'a']],
  ['duration', 'P1Y', durationOf({ years: 1 })],
  ['duration', 'P30D', durationOf({ days: 30 })],
  ['duration', 'PT12H', durationOf({ hours: 12 })],
  [
    'duration',
    'P1Y2M3W4DT5H6M7S',
    durationOf({ years: 1, months: 2, weeks: 3, days: 4, hours: 5, minutes: 6, seconds: 7 }),
  ],
  ['duration', 'PT0S', durationOf({})],
] as const)('a field of a query, %s, is read from %j and written back', (name, written, value) => {
  expect(z.safeDecode(fields[name], written as never)).toEqual({ success: true, data: value });
  expect(z.safeEncode(fields[name], value as never)).toEqual({ success: true, data: written });
});

const notDurations = ['', 'P', 'PT', 'P1', '1Y', 'P1H', 'P1YT', 'P-1Y', 'P1.5Y', 'P12345Y', 'p1y', 'P1Y '];

test.each([
  ['integer', ['', '0', '1001', '01', '+1', '-1', '1.0', '1e2', ' 1', '1 ', '٣', '9'.repeat(400)]],
  ['flag', ['', '1', 'TRUE', 'yes', 'true ']],
  ['list', ['', ',', 'a,', 'a,a', 'a,d', `${'a,'.repeat(9_000)}x`]],
  ['duration', notDurations],
] as const)('a field of a query, %s, is refused when it is written otherwise', (name, bad) => {
  expect(bad.filter((written) => fields[name].safeParse(written).success)).toEqual([]);
});

test('parseIsoDuration reads what a field for a length of time takes', () => {
  expect(parseIsoDuration('P1Y14DT30M')).toEqual(durationOf({ years: 1, days: 14, minutes: 30 }));
  for (const text of notDurations) expect(() => parseIsoDuration(text)).toThrow(RangeError);
});

function durationOf(parts: Readonly<Record<string, number>>) {
  return { years: 0, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0, seconds: 0, ...parts };
}
