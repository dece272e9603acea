import { admit, intervalOf, type Rate, toleranceOf } from '../../domain/rate.ts';
import type { RateRepository } from '../../store/tables/rates.ts';

/** What a request found, in microseconds of the counter's own clock. */
export interface Taken {
  readonly allowed: boolean;
  readonly emptyAt: number;
  readonly now: number;
}

/** Counts requests by name. */
export interface RateCounter {
  take(name: string, rate: Rate): Promise<Taken>;
}

/** Names that are kept at one time. When there are more, those that were used longest ago are forgotten. */
const MAX_NAMES = 100_000;

/**
 * Counts in this process.
 *
 * @param now microseconds on a clock that only goes forward
 */
export function createMemoryCounter(now: () => number, maxNames = MAX_NAMES): RateCounter & { size(): number } {
  /** The name that was used last comes last. */
  const known = new Map<string, number>();
  return {
    size: () => known.size,
    async take(name, rate) {
      const at = now();
      const { allowed, emptyAt } = admit(rate, known.get(name), at);
      known.delete(name);
      known.set(name, emptyAt);
      for (const [oldest, end] of known) {
        if (known.size <= maxNames && end > at) break;
        known.delete(oldest);
      }
      return { allowed, emptyAt, now: at };
    },
  };
}

/**
 * Counts in the database, where all replicas count alike. While that fails, every request is let through: a limit protects
 * the service, and must not be what stops it.
 */
export function createSharedCounter(rates: RateRepository, onFailure: (error: unknown) => void): RateCounter {
  return {
    async take(name, rate) {
      try {
        return await rates.take({ name, interval: intervalOf(rate), tolerance: toleranceOf(rate) });
      } catch (error) {
        onFailure(error);
        return { allowed: true, emptyAt: 0, now: 0 };
      }
    },
  };
}
