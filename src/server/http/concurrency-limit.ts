import { apiError } from '../../contract/errors.ts';
import { Overload } from '../overload.ts';

export interface RequestLimits {
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

/** The default limits: together more than a server has connections (decision 0012). */
export const DEFAULT_REQUEST_LIMITS: RequestLimits = { maxRunning: 256, maxWaiting: 1_024 };

export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/** Limits how many requests run at one time; the others wait, in the order of their arrival. */
export function createConcurrencyLimit({ maxRunning, maxWaiting }: RequestLimits) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    load: () => ({ running, waiting: waiting.length }),
    /**
     * Takes a place. When none is free, returns a promise that resolves when the request has one. Throws ApiError
     * `unavailable` when too many wait.
     */
    enter(): Promise<void> | undefined {
      if (running < maxRunning) {
        running += 1;
        return undefined;
      }
      if (waiting.length < maxWaiting) return new Promise((resolve) => waiting.push(resolve));
      throw apiError('unavailable', {}, { cause: new Overload(`${running} requests run and ${waiting.length} wait`) });
    },
    /** Gives a place back. */
    leave(): void {
      const next = waiting.shift();
      // The next request gets the place.
      if (next === undefined) running -= 1;
      else next();
    },
  };
}
