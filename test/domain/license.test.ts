import { expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { endIfUsed, isActivated, termOf } from '../../src/domain/license.ts';
import { addSeconds } from '../../src/domain/time.ts';
import { now } from './examples.ts';

const day = { years: 0, months: 0, weeks: 0, days: 1, hours: 0, minutes: 0, seconds: 0 };

it.each([
  [null, null, 'running'],
  ['2026-11-21T10:00:00.901Z' as Instant, null, 'running'],
  [now, null, 'ended'],
  [addSeconds(now, -1), null, 'ended'],
  [null, day, 'running'],
  [addSeconds(now, 1), day, 'running'],
  [now, day, 'inGrace'],
  [addSeconds(now, -86_399), day, 'inGrace'],
  [addSeconds(now, -86_400), day, 'ended'],
])('the term of a licence that expires at %s, with the grace period %o, is %s', (expirationDate, gracePeriod, term) => {
  expect(termOf({ expirationDate, gracePeriod }, now)).toBe(term);
});

it.each([
  [null, null, null],
  [addSeconds(now, 1), null, addSeconds(now, 1)],
  [null, day, '2026-11-22T23:59:59.000Z'],
  [null, { ...day, seconds: 1 }, addSeconds(now, 86_401)],
  [addSeconds(now, -1), day, addSeconds(now, -1)],
])('a licence with expiry %s and expiresAfter %o that is used now ends at %s', (expirationDate, expiresAfter, end) => {
  expect(endIfUsed({ expirationDate, renewalDay: null, expiresAfter }, now)).toBe(end);
});

it.each([
  [0, false, false],
  [1, false, true],
  [2, true, false],
])('a licence with %d devices and vendorDisabled %s is activated: %s', (activations, vendorDisabled, answer) => {
  expect(isActivated({ activations, vendorDisabled })).toBe(answer);
});
