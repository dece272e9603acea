import { systemTiming } from '../../client/timing.ts';
import { InterruptedError } from '../failure/errors.ts';
import type { Io } from '../io.ts';

export type Lane = ReturnType<typeof openLane>;

/** Works on up to `max` items at a time: half as many after the service asks to wait, and one more for each round since. */
export function openLane(max: number, { timing = systemTiming, stop }: Pick<Io, 'timing' | 'stop'>) {
  let limit = max;
  let pause: Promise<void> | null = null;

  /** Takes each item when its turn comes. After an error no other one is begun; rejects with it once all have ended. */
  async function each<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
    const running = new Set<Promise<void>>();
    const failures: unknown[] = [];
    const hasRoom = async (): Promise<boolean> => {
      while (pause !== null || running.size >= limit) await (pause ?? Promise.race(running));
      return failures.length === 0 && !stop.aborted;
    };
    try {
      const iterator = Iterator.from(items);
      while (await hasRoom()) {
        const { value, done } = iterator.next();
        if (done) break;
        const task = work(value)
          .catch((error: unknown) => void failures.push(error))
          .finally(() => {
            running.delete(task);
            limit = Math.min(max, limit + 1 / limit);
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
