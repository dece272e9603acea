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
    let running = 0;
    let noteEnd = () => {};
    /** Resolves when the next running item ends. */
    const nextEnd = () =>
      new Promise<void>((resolve) => {
        noteEnd = resolve;
      });
    async function run(item: T): Promise<void> {
      running += 1;
      await work(item).catch((error: unknown) => void failures.push(error));
      running -= 1;
      limit = Math.min(max, limit + 1 / limit);
      noteEnd();
    }
    try {
      const iterator = Iterator.from(items);
      for (;;) {
        while (pause !== null || running >= limit) await (pause ?? nextEnd());
        if (failures.length > 0 || stop.aborted) break;
        const { value, done } = iterator.next();
        if (done) break;
        void run(value);
      }
    } finally {
      while (running > 0) await nextEnd();
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
