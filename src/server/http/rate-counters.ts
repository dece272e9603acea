import { admit, intervalOf, type Rate, toleranceOf, waitOf } from '../../domain/rate.ts';
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

/** Refusals that are remembered at one time. */
const MAX_REFUSED = 10_000;

/**
 * Counts in the database, where all replicas count alike. While that fails, every request is let through: a limit protects
 * the service, and must not be what stops it. A name that was refused is not asked about again before its time: so nobody
 * who is over a limit makes work for the database.
 *
 * @param now microseconds on a clock of this process that only goes forward
 */
export function createSharedCounter(
  rates: RateRepository,
  { now, onFailure }: { now(): number; onFailure(error: unknown): void },
): RateCounter {
  const refused = new Map<string, { readonly taken: Taken; readonly at: number; readonly until: number }>();
  return {
    async take(name, rate) {
      const known = refused.get(name);
      if (known !== undefined && now() < known.until) {
        return { ...known.taken, now: known.taken.now + now() - known.at };
      }
      refused.delete(name);
      try {
        const taken = await rates.take({ name, interval: intervalOf(rate), tolerance: toleranceOf(rate) });
        if (!taken.allowed) {
          if (refused.size >= MAX_REFUSED) refused.clear();
          refused.set(name, { taken, at: now(), until: now() + waitOf(rate, taken.emptyAt, taken.now) });
        }
        return taken;
      } catch (error) {
        onFailure(error);
        return { allowed: true, emptyAt: 0, now: 0 };
      }
    },
  };
}
