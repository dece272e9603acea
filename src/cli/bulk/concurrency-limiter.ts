import { systemTiming } from '../../client/timing.ts';
import { InterruptedError } from '../failure/errors.ts';
import type { Io } from '../io.ts';

export type ConcurrencyLimiter = ReturnType<typeof openLimiter>;

/** Processes up to `max` items at a time: half as many after the service asks to wait, then gradually more. */
export function openLimiter(max: number, { timing = systemTiming, stop }: Pick<Io, 'timing' | 'stop'>) {
  let limit = max;
  let pause: Promise<void> | null = null;

  /** After an error, starts no other item; rejects when all running ones have ended. */
  async function each<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
    const failures: unknown[] = [];
    const running = new Set<Promise<void>>();
    const mayStart = () => failures.length === 0 && !stop.aborted;
    function start(item: T): void {
      const ended = work(item)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => {
          running.delete(ended);
          limit = Math.min(max, limit + 1 / limit);
        });
      running.add(ended);
    }
    try {
      for (const item of items) {
        while (pause !== null || running.size >= limit) await (pause ?? Promise.race(running));
        if (!mayStart()) break;
        start(item);
      }
    } finally {
      await Promise.all(running);
    }
    if (stop.aborted) throw new InterruptedError(stop.reason);
    if (failures.length > 0) throw failures[0];
  }

  /** Pauses all items; fewer run at a time afterwards. */
  function slowDown(ms: number): void {
    // Every running request is told to wait: one pause is enough.
    if (pause !== null) return;
    limit = Math.max(1, limit / 2);
    pause = timing
      .sleep(ms, stop)
      .catch(() => {})
      .finally(() => {
        pause = null;
      });
  }

  return { each, slowDown };
}
