import { apiError } from '../contract/errors.ts';

export interface PlaceLimits {
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

/** Calls a function when the connection of the caller closes, or at once when it is closed already. */
export type OnClose = (work: () => void) => void;

/** The reason of a refusal when too many wait; nothing is wrong with the database. */
export class Overload extends Error {
  override readonly name = 'Overload';
}

interface Waiting {
  readonly token: string;
  begin(): void;
}

export type Places = ReturnType<typeof createPlaces>;

/**
 * Limits how many pieces of work run at one time, in all and for each token. Other pieces wait, in the order of their
 * arrival.
 *
 * @param name names the work in the log
 */
export function createPlaces(name: string, limits: PlaceLimits, limitsOfToken: PlaceLimits = limits) {
  const running: string[] = [];
  const waiting: Waiting[] = [];
  const isFree = (token: string) =>
    running.length < limits.maxRunning && running.filter((one) => one === token).length < limitsOfToken.maxRunning;

  /** Resolves when a place is free. A caller that closes its connection leaves the queue. */
  function enter(token: string, onClose?: OnClose): Promise<void> {
    const own = waiting.filter((one) => one.token === token).length;
    if (waiting.length >= limits.maxWaiting || own >= limitsOfToken.maxWaiting) {
      const ofToken = limitsOfToken === limits ? '' : `, ${own} of them of this token`;
      const cause = new Overload(`${waiting.length} ${name} wait${ofToken}`);
      throw apiError('unavailable', {}, { cause });
    }
    return new Promise((resolve, reject) => {
      const one: Waiting = { token, begin: resolve };
      waiting.push(one);
      onClose?.(() => {
        const at = waiting.indexOf(one);
        if (at === -1) return;
        waiting.splice(at, 1);
        reject(apiError('invalidParams', {}, { cause: new Error('connection closed') }));
      });
    });
  }

  function leave(token: string): void {
    running.splice(running.indexOf(token), 1);
    const at = waiting.findIndex((one) => isFree(one.token));
    const [next] = at === -1 ? [] : waiting.splice(at, 1);
    if (next === undefined) return;
    running.push(next.token);
    next.begin();
  }

  return {
    load: () => ({ running: running.length, waiting: waiting.length }),
    /** Runs `work` in a place of the token. Throws ApiError `unavailable` when too many wait. */
    async run<T>(token: string, work: () => Promise<T>, onClose?: OnClose): Promise<T> {
      if (isFree(token)) running.push(token);
      else await enter(token, onClose);
      try {
        return await work();
      } finally {
        leave(token);
      }
    },
  };
}
