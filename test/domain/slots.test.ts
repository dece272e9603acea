import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { slotYearOf } from '../../src/domain/slots.ts';

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
