import { describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/contract/scalars.ts';
import { healthAfter, type Outcome, progressAfter } from '../../../src/domain/webhooks/outcome.ts';

const now = '2026-11-21T10:00:00.000Z' as Instant;
const accepted: Outcome = { accepted: true, status: 200, retryAfterSeconds: null };
const failed: Outcome = { accepted: false, status: 500, retryAfterSeconds: null };
const askedFor = (retryAfterSeconds: number): Outcome => ({ ...failed, status: 503, retryAfterSeconds });
const gone: Outcome = { accepted: false, status: 410, retryAfterSeconds: null };
const well = { failingSince: null, pausedUntil: null };

describe('an event after an attempt', () => {
  const attempt = { attempts: 1, now, random: 0 };

  it('is delivered when it was accepted, whatever else the receiver asks for', () => {
    expect(progressAfter({ ...accepted, retryAfterSeconds: 60 }, attempt)).toEqual({
      state: 'delivered',
      nextAttemptAt: null,
    });
  });

  it('comes again after the wait of the schedule, or later when the receiver asks for it', () => {
    expect(progressAfter(failed, attempt)).toEqual({ state: 'waiting', nextAttemptAt: '2026-11-21T10:00:05.000Z' });
    expect(progressAfter(askedFor(3_600), attempt)).toMatchObject({ nextAttemptAt: '2026-11-21T11:00:00.000Z' });
    expect(progressAfter(askedFor(1), attempt)).toMatchObject({ nextAttemptAt: '2026-11-21T10:00:05.000Z' });
  });

  it('is repeated after the last wait again and again', () => {
    expect(progressAfter(failed, { ...attempt, attempts: 3 }, [5, 10])).toEqual({
      state: 'waiting',
      nextAttemptAt: '2026-11-21T10:00:10.000Z',
    });
  });
});

describe('a webhook after some attempts', () => {
  it('stays as it is when none of them came to an end, and is well again as soon as one event was accepted', () => {
    const failing = { failingSince: '2026-11-01T00:00:00.000Z' as Instant, pausedUntil: null };
    expect(healthAfter(failing, [], now)).toEqual({ ...failing, isGone: false });
    expect(healthAfter(failing, [failed, accepted, failed], now)).toEqual({ ...well, isGone: false });
  });

  it('fails since the first time', () => {
    expect(healthAfter(well, [failed], now)).toEqual({ failingSince: now, pausedUntil: null, isGone: false });
    const failingSince = '2026-11-16T10:00:00.000Z' as Instant;
    expect(healthAfter({ ...well, failingSince }, [failed], now)).toMatchObject({ failingSince });
  });

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
