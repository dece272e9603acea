import { expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { termOf } from '../../src/domain/term.ts';
import { addSeconds } from '../../src/domain/time.ts';
import { now } from './examples.ts';

it.each([
  [null, 'running'],
  [addSeconds(now, 1), 'running'],
  ['2026-11-21T10:00:00.901Z' as Instant, 'running'],
  [now, 'ended'],
  [addSeconds(now, -1), 'ended'],
])('the term of a licence that expires at %s is %s', (expirationDate, term) => {
  expect(termOf({ expirationDate }, now)).toBe(term);
});
