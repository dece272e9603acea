import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { promisesKept, type SlotPromise, slotYearOf } from '../../src/domain/slots.ts';
import { licenseWith } from './examples.ts';

const promisedAt = '2026-03-01T00:00:00.000Z' as Instant;
const promises = ['host-1', 'host-2', 'host-3'].map(
  (hostId): SlotPromise => ({ hostId, promisedAt, fingerprint: null }),
);

describe('the year of promises and moves', () => {
  const past = { slotYear: 2026, promisedSlots: 2, moves: 3 };
  const last = '2026-12-31T23:59:59.999Z' as Instant;
  const first = '2027-01-01T00:00:00.000Z' as Instant;

  it('ends with the calendar year, UTC', () => {
    expect(slotYearOf(past, last)).toEqual(past);
    expect(slotYearOf(past, first)).toEqual({ slotYear: 2027, promisedSlots: 0, moves: 0 });
  });

  it('is not begun again by a clock that goes back', () => {
    expect(slotYearOf({ ...past, slotYear: 2027 }, last)).toEqual({ ...past, slotYear: 2027 });
  });
});

it.each([
  ['all while there is room', { maxActivations: 4, activations: 1 }, ['host-1', 'host-2', 'host-3']],
  ['the latest where there is less', { maxActivations: 3, activations: 1 }, ['host-2', 'host-3']],
  ['none where all slots are taken', { maxActivations: 2, activations: 2 }, []],
  ['none where more than all are taken', { maxActivations: 1, activations: 2 }, []],
  ['none without a limit', { maxActivations: null }, []],
  ['those of allowed hosts', { maxActivations: 4, allowedHosts: ['host-1', 'host-9'] }, ['host-1']],
])('a changed licence keeps of its promises %s', (_, changes, kept) => {
  expect(promisesKept(licenseWith(changes), promises).map(({ hostId }) => hostId)).toEqual(kept);
});
