import { apiError } from '../../contract/errors.ts';

export interface RequestLimits {
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

/** The limits of a server for which nothing else is configured: together more than it has connections (decision 0025). */
export const DEFAULT_REQUEST_LIMITS: RequestLimits = { maxRunning: 256, maxWaiting: 1_024 };

export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/** Limits how many requests run at one time; the others wait, in the order of their arrival. */
export function createConcurrencyLimit({ maxRunning, maxWaiting }: RequestLimits) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    load: () => ({ running, waiting: waiting.length }),
    /** Runs the work, at once or when it is first in the queue. Throws ApiError `unavailable` when too many wait; nothing has been done then. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (running < maxRunning) running += 1;
      else if (waiting.length < maxWaiting) await new Promise<void>((resolve) => waiting.push(resolve));
      else
        throw apiError('unavailable', {}, { cause: new Error(`${running} requests run and ${waiting.length} wait`) });
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        // The next one takes over the place.
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
