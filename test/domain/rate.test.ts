import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admit, intervalOf, type Rate, remainingOf, waitOf } from '../../src/domain/rate.ts';

const SECOND = 1_000_000;

/** Plays requests at the given instants, and returns those that were allowed. */
function play(rate: Rate, instants: readonly number[]): number[] {
  let emptyAt: number | undefined;
  return instants.filter((now) => {
    const admission = admit(rate, emptyAt, now);
    emptyAt = admission.emptyAt;
    return admission.allowed;
  });
}

describe('a rate', () => {
  it.each<[Rate, number]>([
    [{ perMinute: 60, burst: 10 }, 10],
    [{ perMinute: 6_000, burst: 1_000 }, 1_000],
    [{ perMinute: 7, burst: 3 }, 3],
    [{ perMinute: 60_000_000, burst: 5 }, 5],
  ])('allows %j its burst at one moment, of ten times as many', (rate, burst) => {
    expect(play(rate, Array(burst * 10).fill(12_345)).length).toBe(burst);
  });

  it('allows of any span no more than the burst and what the rate gives in it', () => {
    const rates = fc.record({
      perMinute: fc.integer({ min: 1, max: 10_000 }),
      burst: fc.integer({ min: 1, max: 100 }),
    });
    const gaps = fc.array(fc.integer({ min: 0, max: 20 * SECOND }), { maxLength: 200 });
    fc.assert(
      fc.property(rates, gaps, (rate, steps) => {
        let now = 0;
        const allowed = play(
          rate,
          steps.map((step) => {
            now += step;
            return now;
          }),
        );
        for (const [first, start] of allowed.entries()) {
          for (const [last, end] of allowed.entries()) {
            if (last < first) continue;
            expect(last - first + 1).toBeLessThanOrEqual(rate.burst + (end - start) / intervalOf(rate));
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('allows a request after the wait that it tells, and none a moment before; a refused one changes nothing', () => {
    const rates = fc.record({ perMinute: fc.integer({ min: 1, max: 10_000 }), burst: fc.integer({ min: 1, max: 50 }) });
    fc.assert(
      fc.property(rates, fc.nat(1_000_000), fc.integer({ min: 1, max: 20 }), (rate, start, refusals) => {
        let emptyAt: number | undefined;
        for (let i = 0; i < rate.burst; i += 1) emptyAt = admit(rate, emptyAt, start).emptyAt;
        const full = emptyAt ?? 0;
        for (let i = 0; i < refusals; i += 1)
          expect(admit(rate, full, start)).toEqual({ allowed: false, emptyAt: full });
        const wait = waitOf(rate, full, start);
        expect(remainingOf(rate, full, start)).toBe(0);
        expect([admit(rate, full, start + wait - 1).allowed, admit(rate, full, start + wait).allowed]).toEqual([
          false,
          true,
        ]);
      }),
    );
  });
});
