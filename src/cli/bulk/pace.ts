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
