import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConcurrencyLimit } from '../http/concurrency-limit.ts';

export type Pace = ReturnType<typeof createPace>;

/** While the server is busy, one event is sent for this many requests. */
const REQUESTS_PER_EVENT = 8;

/** The events that may be sent at once after a time without any. */
const MAX_SAVED = 32;

/** A busy server works for at least this share of its time. */
const BUSY = 0.9;

/** A busy server ends at least this many requests between two looks: fewer do not wait for each other. */
const BUSY_REQUESTS = 4;

/** It is no longer busy after this many looks in a row that find it otherwise. */
const CALM_LOOKS = 3;

/** The time between two looks, in milliseconds. */
const LOOK_EVERY_MS = 10;

/** Makes deliveries give way to requests. */
export function createPace({ load }: Pick<ConcurrencyLimit, 'load'>, utilization = createUtilization()) {
  let last: Promise<void> = Promise.resolve();
  let seen = load().finished;
  let saved = 0;
  let calmLooks = CALM_LOOKS;

  /** Whether `count` events may be sent now. */
  function spend(count: number): boolean {
    const used = utilization();
    if (used !== null) {
      const { finished } = load();
      calmLooks = used >= BUSY && finished - seen >= BUSY_REQUESTS ? 0 : calmLooks + 1;
      saved = Math.min(saved + (finished - seen) / REQUESTS_PER_EVENT, MAX_SAVED);
      seen = finished;
    }
    if (calmLooks >= CALM_LOOKS) return true;
    if (saved < count) return false;
    saved -= count;
    return true;
  }

  return {
    /**
     * Waits until `count` more events may be sent: at once while the server has time to spare.
     *
     * @param maxWaitMs after which they may be sent in any case, so that nothing waits for ever
     */
    take(count: number, maxWaitMs: number, stopped: AbortSignal): Promise<void> {
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(maxWaitMs)]);
      // One after the other, so that each webhook comes to its share.
      last = last.then(async () => {
        while (!signal.aborted && !spend(count)) await sleep(LOOK_EVERY_MS);
      });
      return last;
    },
  };
}

/** The share of its time, from 0 to 1, that this process has worked since the last look; null when that was just now. */
function createUtilization(): () => number | null {
  let from = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { idle, active, utilization } = performance.eventLoopUtilization(now, from);
    if (idle + active < LOOK_EVERY_MS) return null;
    from = now;
    return utilization;
  };
}
