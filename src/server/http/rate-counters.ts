import { admit, intervalOf, type Rate, toleranceOf, waitOf } from '../../domain/rate.ts';
import type { RateRepository } from '../../store/tables/rates.ts';

/** The state of a limit at a request, in microseconds of one clock. */
export interface Taken {
  readonly allowed: boolean;
  readonly emptyAt: number;
  readonly now: number;
}

export interface RateCounter {
  take(name: string, rate: Rate): Taken | Promise<Taken>;
  /** The state as far as this process knows it; counts nothing. An unknown name is allowed. */
  look(name: string, rate: Rate): Taken;
}

/** The most names in memory. */
const MAX_NAMES = 100_000;

/**
 * Counts in this process; `now` returns microseconds of a monotonic clock. A used name moves into the newer of two maps. When that map
 * is full, the older map is dropped.
 */
export function createMemoryCounter(now: () => number, maxNames = MAX_NAMES): RateCounter & { size(): number } {
  let newer = new Map<string, number>();
  let older = new Map<string, number>();
  const emptyAtOf = (name: string) => newer.get(name) ?? older.get(name);
  return {
    size: () => newer.size + older.size,
    take(name, rate) {
      const at = now();
      const { allowed, emptyAt } = admit(rate, emptyAtOf(name), at);
      if (newer.size >= maxNames / 2 && !newer.has(name)) [older, newer] = [newer, new Map()];
      newer.set(name, emptyAt);
      return { allowed, emptyAt, now: at };
    },
    look: (name, rate) => stateOf(rate, emptyAtOf(name), now()),
  };
}

/** The most names over their limit that are remembered. */
const MAX_USED_UP = 10_000;

/**
 * Counts in the database, so that all replicas share one count. While the database fails, every request is let through: a limit must
 * not stop the service that it protects. This process remembers the names over their limit, so that they cause no further queries.
 * `now` returns microseconds of a monotonic clock.
 */
export function createSharedCounter(
  rates: RateRepository,
  { now, onFailure }: { now(): number; onFailure(error: unknown): void },
): RateCounter {
  /** By name: when the rate is fully available again, by the clock of this process. */
  const usedUp = new Map<string, number>();
  const look: RateCounter['look'] = (name, rate) => stateOf(rate, usedUp.get(name), now());
  return {
    look,
    async take(name, rate) {
      const known = look(name, rate);
      if (!known.allowed) return known;
      usedUp.delete(name);
      try {
        const taken = await rates.take({ name, interval: intervalOf(rate), tolerance: toleranceOf(rate) });
        if (waitOf(rate, taken.emptyAt, taken.now) > 0) {
          if (usedUp.size >= MAX_USED_UP) usedUp.clear();
          usedUp.set(name, taken.emptyAt - taken.now + now());
        }
        return taken;
      } catch (error) {
        onFailure(error);
        return { allowed: true, emptyAt: 0, now: 0 };
      }
    },
  };
}

const stateOf = (rate: Rate, emptyAt: number | undefined, now: number): Taken => ({
  allowed: emptyAt === undefined || waitOf(rate, emptyAt, now) <= 0,
  emptyAt: emptyAt ?? now,
  now,
});
