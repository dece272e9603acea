import type { Logger } from 'pino';
import { addSeconds, toInstant } from '../../domain/time.ts';
import type { Store } from '../../store/store.ts';

/** Answers are kept this long. Source: API description, "Common behavior: idempotency", 8. */
const KEEP_SECONDS = 24 * 60 * 60;

const RUN_EVERY_MS = 24 * 60 * 60 * 1_000;

/** How often the clocks are compared. */
const LOOK_EVERY_MS = 60_000;

/** A wall clock that has moved this much against the steady one was set, and says nothing about age. */
const JUMP_MS = 60 * 60 * 1_000;

/** So that nobody waits long behind a deletion. */
const BATCH = 500;

/** Time as two clocks tell it, in milliseconds: one that can be set, one that only goes on. */
export interface Clocks {
  wall(): number;
  steady(): number;
}

/**
 * Removes idempotency records older than 24 hours, in small batches, and counts them.
 */
export async function cleanUp(store: Store, nowMs: number): Promise<number> {
  const before = addSeconds(toInstant(nowMs), -KEEP_SECONDS);
  let removed = 0;
  for (;;) {
    const count = await store.transaction((repositories) => repositories.idempotency.removeOlder(before, BATCH));
    removed += count;
    if (count < BATCH) return removed;
  }
}

/** Decides when to clean up: once a day, and not in a day in which the wall clock has jumped. */
export function createCleanupSchedule({ wall, steady }: Clocks): () => boolean {
  let offset = wall() - steady();
  // The first run is due at once: a server that is restarted every night would otherwise never clean up.
  let lastRun = steady() - RUN_EVERY_MS;
  return () => {
    const jumped = Math.abs(wall() - steady() - offset) > JUMP_MS;
    if (jumped) {
      // The day begins anew: from here on the clock is believed again.
      offset = wall() - steady();
      lastRun = steady();
    }
    if (steady() - lastRun < RUN_EVERY_MS) return false;
    lastRun = steady();
    return true;
  };
}

/** Cleans up once a day until it is stopped. A run that fails is logged; the next day brings another. */
export function startCleanup(store: Store, log: Logger, clocks: Clocks): { stop(): Promise<void> } {
  const isDue = createCleanupSchedule(clocks);
  let running = Promise.resolve();
  const timer = setInterval(() => {
    if (!isDue()) return;
    running = cleanUp(store, clocks.wall()).then(
      (removed) => log.info({ removed }, 'idempotency records cleaned up'),
      (error: unknown) => log.error({ err: error }, 'cleanup failed'),
    );
  }, LOOK_EVERY_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
