import type { AccountId, Instant, TokenId } from '../contract/scalars.ts';
import type { Caller } from '../domain/access.ts';
import type { Store } from '../store/store.ts';
import type { Job } from './jobs/job.ts';

const FLUSH_EVERY_MS = 10_000;

/** How many tokens are remembered with the day of their last use; when there are more, some are written down twice. */
const MAX_TOKENS = 100_000;

/** Records on which day each token was used last: with a single write for a token and a day, outside of requests. */
export function createTokenUses(store: Store) {
  const noted = new Map<TokenId, string>();
  let pending: { readonly accountId: AccountId; readonly tokenId: TokenId; readonly day: string }[] = [];

  async function flush(): Promise<void> {
    if (pending.length === 0) return;
    const uses = pending;
    pending = [];
    try {
      await store.transaction(async ({ tokens }) => {
        // The same order on all replicas avoids deadlocks.
        for (const { accountId, tokenId, day } of uses.toSorted((a, b) => (a.tokenId < b.tokenId ? -1 : 1))) {
          await tokens.noteUse(accountId, tokenId, day);
        }
      });
    } catch (error) {
      // The next use of these tokens is written again.
      for (const { tokenId } of uses) noted.delete(tokenId);
      throw error;
    }
  }

  return {
    note({ accountId, tokenId }: Caller, now: Instant): void {
      const day = now.slice(0, 10);
      if (tokenId === null || noted.get(tokenId) === day) return;
      if (noted.size >= MAX_TOKENS) noted.clear();
      noted.set(tokenId, day);
      pending.push({ accountId, tokenId, day });
    },
    flush,
    job: { name: 'token uses', everyMs: FLUSH_EVERY_MS, run: flush } satisfies Job,
  };
}
