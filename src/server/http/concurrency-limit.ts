import { apiError } from '../../contract/errors.ts';

/** How many requests may be in work, beyond what their connections allow. */
export interface RequestLimits {
  /** Requests that run at one time. */
  readonly maxRunning: number;
  /** Requests that wait until one of those has ended. */
  readonly maxWaiting: number;
}

/** The limits of a server for which nothing else is configured: together more than it has connections (decision 0025). */
export const DEFAULT_REQUEST_LIMITS: RequestLimits = { maxRunning: 256, maxWaiting: 1_024 };

/** Limits how many requests run at one time; the others wait, in the order of their arrival. */
export interface ConcurrencyLimit {
  /** Runs the work, at once or when it is first in the queue. Throws ApiError `unavailable` when too many wait; nothing has been done then. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** How many run and wait now, and how many have ended since the beginning. */
  load(): { readonly running: number; readonly waiting: number; readonly finished: number };
}

/** Makes the limit of one server. */
export function createConcurrencyLimit({ maxRunning, maxWaiting }: RequestLimits): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let running = 0;
  let finished = 0;
  return {
    load: () => ({ running, waiting: waiting.length, finished }),
    async run(work) {
      if (running < maxRunning) running += 1;
      else if (waiting.length < maxWaiting) await new Promise<void>((resolve) => waiting.push(resolve));
      else
        throw apiError('unavailable', {}, { cause: new Error(`${running} requests run and ${waiting.length} wait`) });
      try {
        return await work();
      } finally {
        finished += 1;
        const next = waiting.shift();
        // The next one takes over the place.
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
