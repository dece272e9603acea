import { addSeconds, toInstant } from '../../domain/time.ts';
import type { Repositories } from '../../store/store.ts';
import type { Job } from './job.ts';

/** Stored responses are kept this long. Source: API description, "Common behavior: idempotency", 8. */
const KEEP_SECONDS = 24 * 60 * 60;

const RUN_EVERY_MS = 24 * 60 * 60 * 1_000;

/** How often the clocks are compared. */
const LOOK_EVERY_MS = 60_000;

/** A wall clock that has moved this far relative to the steady one was set: ages computed from it are wrong. */
const JUMP_MS = 60 * 60 * 1_000;

/** Records that one transaction removes: other writes wait no longer than for these. */
const BATCH_SIZE = 500;

/** Two clocks, in milliseconds: the wall clock, which can be set, and a monotonic one. */
export interface Clocks {
  wall(): number;
  steady(): number;
}

/** Where batches are removed: a store, or a job, whose transactions are null while another replica holds its lease. */
interface Transactions {
  transaction<T>(work: (repositories: Repositories) => Promise<T>): Promise<T | null>;
}

/** What a cleanup has removed. */
interface Removed {
  readonly idempotencyRecords: number;
  readonly licenseFiles: number;
}

/** Removes idempotency records older than 24 hours, and licence files that ended 24 hours ago, in small batches. */
export async function cleanUp(store: Transactions, nowMs: number, signal?: AbortSignal): Promise<Removed> {
  const now = toInstant(nowMs);
  const before = addSeconds(now, -KEEP_SECONDS);
  return {
    idempotencyRecords: await removeAll(
      store,
      ({ idempotency }) => idempotency.removeOlder(before, BATCH_SIZE),
      signal,
    ),
    licenseFiles: await removeAll(store, ({ files }) => files.removeEnded(before, BATCH_SIZE, now), signal),
  };
}

async function removeAll(
  store: Transactions,
  removeBatch: (repositories: Repositories) => Promise<number>,
  signal: AbortSignal | undefined,
): Promise<number> {
  let removed = 0;
  while (!signal?.aborted) {
    const count = await store.transaction(removeBatch);
    removed += count ?? 0;
    if (count === null || count < BATCH_SIZE) break;
  }
  return removed;
}

/** Decides when to clean up: once a day, and not in a day in which the wall clock has jumped. */
export function createCleanupSchedule({ wall, steady }: Clocks): () => boolean {
  let offset = wall() - steady();
  // The first run is due at once: a server that is restarted every night would otherwise never clean up.
  let lastRun = steady() - RUN_EVERY_MS;
  return () => {
    const jumped = Math.abs(wall() - steady() - offset) > JUMP_MS;
    if (jumped) {
      // A new day begins here, from which on the clock is trusted again.
      offset = wall() - steady();
      lastRun = steady();
    }
    if (steady() - lastRun < RUN_EVERY_MS) return false;
    lastRun = steady();
    return true;
  };
}

/** The job that cleans up once a day. After a failed run the next day brings another. */
export function cleanupJob(clocks: Clocks): Job {
  return {
    name: 'cleanup',
    everyMs: LOOK_EVERY_MS,
    isDue: createCleanupSchedule(clocks),
    async run(context) {
      const removed = await cleanUp(context, clocks.wall(), context.signal);
      context.log.info({ removed }, 'cleaned up');
    },
  };
}
