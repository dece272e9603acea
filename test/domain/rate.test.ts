import fc from 'fast-check';
import { expect, it } from 'vitest';
import { admit, intervalOf, type Rate, remainingOf, waitOf } from '../../src/domain/rate.ts';

const rates = fc.record({ perMinute: fc.integer({ min: 1, max: 10_000 }), burst: fc.integer({ min: 1, max: 100 }) });

/** Plays requests at the given instants, and returns those that were allowed. */
function play(rate: Rate, instants: readonly number[]): number[] {
  let emptyAt: number | undefined;
  return instants.filter((now) => {
    const admission = admit(rate, emptyAt, now);
    emptyAt = admission.emptyAt;
    return admission.allowed;
  });
}

it('allows of any span no more than the burst and what the rate gives in it', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 20_000_000 }), { maxLength: 200 });
  fc.assert(
    fc.property(rates, gaps, (rate, steps) => {
      let now = 0;
      const instants = steps.map((step) => {
        now += step;
        return now;
      });
      const allowed = play(rate, instants);
      for (const [first, start] of allowed.entries()) {
        for (const [more, end] of allowed.slice(first).entries()) {
          expect(more + 1).toBeLessThanOrEqual(rate.burst + (end - start) / intervalOf(rate));
        }
      }
    }),
    { numRuns: 60 },
  );
});

it('allows the burst at once, a request after the wait that it tells, and none a moment before; a refused one changes nothing', () => {
  fc.assert(
    fc.property(rates, fc.nat(1_000_000), (rate, start) => {
      let emptyAt = start;
      for (let left = rate.burst; left > 0; left -= 1) {
        expect(remainingOf(rate, emptyAt, start)).toBe(left);
        ({ emptyAt } = admit(rate, emptyAt, start));
      }
      expect(remainingOf(rate, emptyAt, start)).toBe(0);
      expect(admit(rate, emptyAt, start)).toEqual({ allowed: false, emptyAt });
      const free = start + waitOf(rate, emptyAt, start);
      expect([admit(rate, emptyAt, free - 1).allowed, admit(rate, emptyAt, free).allowed]).toEqual([false, true]);
    }),
  );
});
