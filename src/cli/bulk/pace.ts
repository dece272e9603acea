import { InterruptedError } from '../failure/errors.ts';

/** Lets rows through, as many at a time as the service takes. */
export interface Pace {
  /** Resolves when another row may be sent. */
  enter(): Promise<void>;
  /** A row has been answered. */
  leave(): void;
  /** The service has asked to wait: all rows do, and fewer go at a time afterwards. */
  slowDown(ms: number): void;
  readonly limit: number;
}

const START = 4;

/**
 * Starts with a few rows at a time, and takes one more for each round that goes well, up to `max`. Each time the service asks
 * to wait, halves them.
 */
export function createPace(max: number, sleep: (ms: number) => Promise<void>): Pace {
  const waiting: (() => void)[] = [];
  let limit = Math.min(START, max);
  let running = 0;
  /** Rows that were answered since the last change. */
  let answered = 0;
  let pause: Promise<void> | null = null;

  function admit(): void {
    while (pause === null && running < limit) {
      const next = waiting.shift();
      if (next === undefined) return;
      running += 1;
      next();
    }
  }

  return {
    enter: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        admit();
      }),
    leave: () => {
      running -= 1;
      answered += 1;
      if (answered >= limit && limit < max) {
        limit += 1;
        answered = 0;
      }
      admit();
    },
    slowDown: (ms) => {
      // All that were on their way are told to wait: that is one request to slow down.
      if (pause !== null) return;
      limit = Math.max(1, Math.floor(limit / 2));
      answered = 0;
      pause = sleep(ms).finally(() => {
        pause = null;
        admit();
      });
    },
    get limit() {
      return limit;
    },
  };
}

/** What items are worked on with. */
export interface Lane {
  readonly pace: Pace;
  /** How many go at a time at most. */
  readonly concurrency: number;
  readonly stop: AbortSignal;
}

/**
 * Works on items as the pace lets them through, and takes each from `items` when its turn comes. After an error no other
 * one is begun; rejects with it once nothing is on its way any more.
 */
export async function eachAtPace<T>(
  items: Iterable<T>,
  { pace, concurrency, stop }: Lane,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failure: unknown = null;
  async function workOn(): Promise<void> {
    for (;;) {
      await pace.enter();
      try {
        if (failure !== null || stop.aborted) return;
        const { value, done } = iterator.next();
        if (done) return;
        await work(value);
      } catch (error) {
        failure ??= error;
      } finally {
        pace.leave();
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, workOn));
  iterator.return?.();
  if (stop.aborted) throw new InterruptedError(stop.reason);
  if (failure !== null) throw failure;
}
