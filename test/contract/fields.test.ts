import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { durationField, flagField, integerField, listField } from '../../src/contract/fields.ts';

describe.each([
  [
    'a whole number',
    integerField(1, 1_000),
    [
      ['1', 1],
      ['1000', 1_000],
    ],
  ],
  [
    'a flag',
    flagField(),
    [
      ['true', true],
      ['false', false],
    ],
  ],
  [
    'a list',
    listField(['active', 'expired', 'blocked']),
    [
      ['active', ['active']],
      ['blocked,active', ['blocked', 'active']],
    ],
  ],
  [
    'a duration',
    durationField(),
    [
      ['P1Y', durationOf({ years: 1 })],
      ['P30D', durationOf({ days: 30 })],
      ['PT12H', durationOf({ hours: 12 })],
      ['P1Y2M3W4DT5H6M7S', durationOf({ years: 1, months: 2, weeks: 3, days: 4, hours: 5, minutes: 6, seconds: 7 })],
      ['PT0S', durationOf({})],
    ],
  ],
] as const)('%s in a query', (_, field, cases) => {
  it.each(cases as readonly (readonly [string, unknown])[])('is read from %j and written back', (written, value) => {
    expect(z.safeDecode(field, written as never)).toEqual({ success: true, data: value });
    expect(z.safeEncode(field, value as never)).toEqual({ success: true, data: written });
  });
});

test.each([
  [
    'a whole number',
    integerField(1, 1_000),
    ['', '0', '1001', '01', '+1', '-1', '1.0', '1e2', ' 1', '1 ', '٣', '9'.repeat(400)],
  ],
  ['a flag', flagField(), ['', '1', 'TRUE', 'yes', 'true ']],
  [
    'a list',
    listField(['active', 'expired']),
    ['', ',', 'active,', 'active,active', 'active,gone', `${'active,'.repeat(9_000)}x`],
  ],
  [
    'a duration',
    durationField(),
    ['', 'P', 'PT', 'P1', '1Y', 'P1H', 'P1YT', 'P-1Y', 'P1.5Y', 'P12345Y', 'p1y', 'P1Y '],
  ],
] as const)('%s in a query is refused when it is written otherwise', (_, field, bad) => {
  expect(bad.filter((written) => field.safeParse(written).success)).toEqual([]);
});

function durationOf(parts: Readonly<Record<string, number>>) {
  return { years: 0, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0, seconds: 0, ...parts };
}
