import type { Instant } from '../contract/scalars.ts';
import { epochSeconds } from '../domain/time.ts';
import type { Context } from './context.ts';

/** What was counted of keys. */
interface Counts {
  readonly keys: { readonly total: number };
}

/** More keys than are counted in about 50 ms. */
const MANY = 25_000;

/** How long counts of many keys are given again, and for how long they still are while the keys are counted anew. */
const [FRESH_SECONDS, USABLE_SECONDS] = [60, 3_600];

/** What is counted is kept of so many accounts and products; when there is more, all of it is forgotten. */
const MAX_KEPT = 100;

/** By repositories, and by the name of what is counted. */
const kept = new WeakMap<Context['repositories'], Map<string, { counts: Counts; at: Instant; isRunning: boolean }>>();

/**
 * Counts keys, or gives what was counted for the same name a while ago where they are many, with its age in seconds. Few are
 * counted each time. Decision 0052.
 */
export async function recentCounts<C extends Counts>(
  { repositories, now }: Pick<Context, 'repositories' | 'now'>,
  name: string,
  count: () => Promise<C>,
): Promise<C & { age: number }> {
  const known = kept.get(repositories) ?? new Map();
  kept.set(repositories, known);
  const countAnew = async (): Promise<C & { age: number }> => {
    const counts = await count();
    known.delete(name);
    if (known.size === MAX_KEPT) known.clear();
    if (counts.keys.total > MANY) known.set(name, { counts, at: now, isRunning: false });
    return { age: 0, ...counts };
  };
  const last = known.get(name);
  const age = last === undefined ? -1 : epochSeconds(now) - epochSeconds(last.at);
  // A clock that was set back says nothing of an age.
  if (last === undefined || age < 0 || age >= USABLE_SECONDS) return countAnew();
  if (age >= FRESH_SECONDS && !last.isRunning) {
    last.isRunning = true;
    // Nobody waits for it: after a failure the next caller begins anew.
    void countAnew().catch(() => {
      last.isRunning = false;
    });
  }
  return { age, ...last.counts };
}
