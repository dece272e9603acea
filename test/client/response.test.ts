import { expect, test } from 'vitest';
import { readRetryAfter } from '../../src/client/response.ts';
import { noon } from './fake-timing.ts';

const inTenSeconds = 'Sat, 21 Nov 2026 12:00:10 GMT';

test.each<[string, Record<string, string>, number | null]>([
  ['reads whole seconds', { 'retry-after': '7' }, 7_000],
  ['reads a date against the clock here', { 'retry-after': inTenSeconds }, 10_000],
  [
    'reads a date against the answer’s own date, so a wrong clock here does not matter',
    { 'retry-after': inTenSeconds, date: 'Sat, 21 Nov 2026 12:00:08 GMT' },
    2_000,
  ],
  ['takes a date that has passed as now', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
  ['knows nothing without the header', {}, null],
  ['knows nothing from an empty header', { 'retry-after': '' }, null],
  ['knows nothing from a negative number', { 'retry-after': '-5' }, null],
  ['knows nothing from a fraction', { 'retry-after': '1.5' }, null],
  ['knows nothing from a date in another form', { 'retry-after': '2026-11-21' }, null],
  ['knows nothing from a day that does not exist', { 'retry-after': 'Sat, 41 Nov 2026 12:00:10 GMT' }, null],
])('%s', (_title, headers, waitMs) => {
  expect(readRetryAfter(new Headers(headers), noon)).toBe(waitMs);
});
