import { apiError } from '../../contract/errors.ts';
import { Overload } from '../overload.ts';

/** The most reads at one time: in all, and per token. */
const [MAX_PLACES, MAX_PLACES_OF_TOKEN] = [8, 2];

/** The most waiting reads: in all, fewer than the requests that may run; and per token. */
const [MAX_WAITING, MAX_WAITING_OF_TOKEN] = [128, 32];

interface Waiting {
  readonly token: string;
  begin(): void;
}

/** Calls a function when the connection of the caller closes, or at once when it is closed already. */
export type OnClose = (work: () => void) => void;

/** Limits how many parts of responses are read at one time, in all and for each token. Further ones wait in a queue. */
export function createPlaces() {
  const taken: string[] = [];
  const waiting: Waiting[] = [];
  const countOf = (token: string) => taken.filter((one) => one === token).length;
  const isFree = (token: string) => taken.length < MAX_PLACES && countOf(token) < MAX_PLACES_OF_TOKEN;

  function leave(token: string): void {
    taken.splice(taken.indexOf(token), 1);
    const next = waiting.findIndex((one) => isFree(one.token));
    if (next !== -1) waiting.splice(next, 1)[0]?.begin();
  }

  /** Resolves when a place is free. A caller that closes its connection leaves the queue. */
  async function enter(token: string, onClose?: OnClose): Promise<void> {
    if (isFree(token)) return void taken.push(token);
    const own = waiting.filter((one) => one.token === token).length;
    if (waiting.length >= MAX_WAITING || own >= MAX_WAITING_OF_TOKEN) {
      const cause = new Overload(`${waiting.length} reads of many rows wait, ${own} of them of this token`);
      throw apiError('unavailable', {}, { cause });
    }
    await new Promise<void>((resolve, reject) => {
      const one: Waiting = {
        token,
        begin() {
          taken.push(token);
          resolve();
        },
      };
      waiting.push(one);
      onClose?.(() => {
        const at = waiting.indexOf(one);
        if (at === -1) return;
        waiting.splice(at, 1);
        reject(apiError('invalidParams', {}, { cause: new Error('connection closed') }));
      });
    });
  }

  return {
    /** Runs `work` in a place of the token. Throws ApiError `unavailable` when too many wait. */
    async run<T>(token: string, work: () => Promise<T>, onClose?: OnClose): Promise<T> {
      await enter(token, onClose);
      try {
        return await work();
      } finally {
        leave(token);
      }
    },
  };
}
