import type { AccountId, Instant } from '../../contract/scalars.ts';
import { countMany } from '../../service/stats.ts';
import type { Store } from '../../store/store.ts';
import type { Job } from './job.ts';

export const COUNTS = 'counts';

const LOOK_EVERY_MS = 60_000;

/** What another replica has counted since the last look. */
const FRESH_SECONDS = 30;

/** More keys than are counted in about 50 ms. */
const MANY = 25_000;

/** A run is followed by so many times as long without one: counting takes a hundredth of the time of a server at most. */
const REST = 100;

interface CountParts {
  now(): Instant;
  /** Milliseconds, by a clock that nobody sets. */
  steady(): number;
  /** How many keys an account has at most whose keys are counted for each who asks. */
  readonly many?: number;
}

/** The job that counts the keys of accounts which have many, so that nobody waits for it. */
export function countJob({ repositories }: Pick<Store, 'repositories'>, { now, steady, many = MANY }: CountParts): Job {
  let due = Number.NEGATIVE_INFINITY;
  return {
    name: COUNTS,
    everyMs: LOOK_EVERY_MS,
    async run({ transaction, signal }) {
      const begun = steady();
      if (begun < due) return false;
      const next = (after: AccountId | '') => repositories.accounts.next(after);
      for (let accountId = await next(''); accountId !== null && !signal.aborted; accountId = await next(accountId)) {
        const at = { accountId, now: now(), freshSeconds: FRESH_SECONDS, many, signal };
        await countMany(repositories, transaction, at).catch((error) => {
          if (!signal.aborted) throw error;
        });
      }
      due = steady() + REST * (steady() - begun);
      return true;
    },
  };
}
