import { describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/contract/scalars.ts';
import { healthAfter, type Outcome } from '../../../src/domain/webhooks/outcome.ts';

const now = '2026-11-21T10:00:00.000Z' as Instant;
const accepted: Outcome = { accepted: true, status: 200, retryAfterSeconds: null };
const failed: Outcome = { accepted: false, status: 500, retryAfterSeconds: null };
const askedFor = (retryAfterSeconds: number): Outcome => ({ ...failed, status: 503, retryAfterSeconds });
const gone: Outcome = { accepted: false, status: 410, retryAfterSeconds: null };
const well = { failingSince: null, pausedUntil: null };

describe('a webhook after some attempts', () => {
  it('is gone when its receiver says so, also beside one that was accepted', () => {
    expect(healthAfter(well, [accepted, gone], now)).toMatchObject({ failingSince: now, isGone: true });
  });

  it('rests for the longest time that was asked for, a day at most, also before', () => {
    const pauseOf = (outcomes: readonly Outcome[], pausedUntil: Instant | null = null) =>
      healthAfter({ failingSince: null, pausedUntil }, outcomes, now).pausedUntil;
    expect(pauseOf([askedFor(60), askedFor(600), failed])).toBe('2026-11-21T10:10:00.000Z');
    expect(pauseOf([askedFor(1_000_000)])).toBe('2026-11-22T10:00:00.000Z');
    expect(pauseOf([askedFor(60)], '2026-11-21T12:00:00.000Z' as Instant)).toBe('2026-11-21T12:00:00.000Z');
    expect(pauseOf([{ ...accepted, retryAfterSeconds: 60 }])).toBeNull();
  });
});
