import type { AccountId } from '../contract/scalars.ts';
import type { OutboxRecord, OutboxRepository } from './tables/record/outbox.ts';

/** Gives entries of one account their numbers, oldest first. */
export type NumberEntries<R> = (
  repositories: R,
  accountId: AccountId,
  entries: readonly OutboxRecord[],
) => Promise<void>;

/** See {@link createStaging}. */
export type Staging<R> = ReturnType<typeof createStaging<R>>;

/**
 * Makes a place for what the transactions of one commit have recorded, in memory until it is numbered at the end of that
 * commit. Only for transactions that run one after the other and commit together.
 */
export function createStaging<R>() {
  let number: NumberEntries<R> | null = null;
  let staged: OutboxRecord[] = [];

  return {
    /** From now on entries are numbered in their own commit; until then they go to the outbox. */
    numberWith(work: NumberEntries<R>): void {
      number = work;
    },
    /** The outbox, which new entries do not reach. */
    inFrontOf: (outbox: OutboxRepository): OutboxRepository => ({
      ...outbox,
      async insert(entry) {
        if (number === null) await outbox.insert(entry);
        else staged.push(entry);
      },
    }),
    /** Runs a transaction, or a part of one; what it staged is dropped when it throws. */
    async during<T>(work: () => Promise<T>): Promise<T> {
      const before = staged.length;
      try {
        return await work();
      } catch (error) {
        staged.length = before;
        throw error;
      }
    },
    /** Numbers what is staged. */
    async finish(repositories: R): Promise<void> {
      if (number === null || staged.length === 0) return;
      const entries = staged;
      staged = [];
      for (const [accountId, own] of Map.groupBy(entries, (entry) => entry.accountId)) {
        await number(repositories, accountId, own);
      }
    },
    /** Drops what a commit that was lost has left. */
    clear(): void {
      staged = [];
    },
  };
}
