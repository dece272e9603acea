import { systemTiming } from '../../client/timing.ts';
import { InterruptedError } from '../failure/errors.ts';
import type { Io } from '../io.ts';

const START = 4;

/** Works on items, as many at a time as the service takes. */
export type Lane = ReturnType<typeof openLane>;

/**
 * Starts with a few items at a time, and takes one more for each round that goes well, up to `max`. Each time the service
 * asks to wait, halves them.
 */
export function openLane(max: number, { timing, stop }: Pick<Io, 'timing' | 'stop'>) {
  const { sleep } = timing ?? systemTiming;
  let limit = Math.min(START, max);
  /** Items that were answered since the limit has changed. */
  let answered = 0;
  let pause: Promise<void> | null = null;

  /**
   * Works on items, each taken from `items` when its turn comes. After an error no other one is begun; rejects with it
   * once nothing is on its way any more.
   */
  async function each<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
    const iterator = items[Symbol.iterator]();
    const running = new Set<Promise<void>>();
    const failures: unknown[] = [];
    try {
      for (;;) {
        while (pause !== null || running.size >= limit) await (pause ?? Promise.race(running));
        if (failures.length > 0 || stop.aborted) break;
        const next = iterator.next();
        if (next.done) break;
        const task = work(next.value)
          .catch((error: unknown) => void failures.push(error))
          .finally(() => {
            running.delete(task);
            answered += 1;
            if (answered < limit || limit >= max) return;
            limit += 1;
            answered = 0;
          });
        running.add(task);
      }
    } finally {
      await Promise.all(running);
    }
    if (stop.aborted) throw new InterruptedError(stop.reason);
    if (failures.length > 0) throw failures[0];
  }

  /** The service has asked to wait: all do, and fewer go at a time afterwards. */
  function slowDown(ms: number): void {
    // All that were on their way are told to wait: that is one request to slow down.
    if (pause !== null) return;
    limit = Math.max(1, Math.floor(limit / 2));
    answered = 0;
    pause = sleep(ms, stop)
      .catch(() => {})
      .finally(() => {
        pause = null;
      });
  }

  return { each, slowDown };
}
