import { numberStaged } from '../../service/numbering.ts';
import { OutcomeUnknown, StorageError } from '../../store/errors.ts';
import type { Store } from '../../store/store.ts';
import { type Job, type JobContext, leasedBy } from './job.ts';

export const SEQUENCER = 'sequencer';

/** How long entries are gathered before they are numbered together. */
const GATHER_MS = 100;

/**
 * Numbers all staged entries of all accounts, a batch at a time.
 *
 * @returns false when another replica holds the lease and numbers them
 */
export async function sequence(
  { repositories }: Pick<Store, 'repositories'>,
  transaction: JobContext['transaction'],
  signal?: AbortSignal,
): Promise<boolean> {
  const { outbox } = repositories;
  for (let account = await outbox.nextAccount(''); account !== null; ) {
    if (signal?.aborted) return true;
    const accountId = account;
    const isFull = await transaction(async (inside) =>
      inside.outbox.isFullBatch(await numberStaged(inside, accountId)),
    );
    if (isFull === null) return false;
    if (!isFull) account = await outbox.nextAccount(accountId);
  }
  return true;
}

/**
 * Numbers all staged entries when a database is opened or closed. If the database cannot be written, the entries stay
 * staged.
 */
export async function sequenceNow(store: Store): Promise<void> {
  try {
    await sequence(store, leasedBy(SEQUENCER, store));
  } catch (error) {
    if (!(error instanceof StorageError || error instanceof OutcomeUnknown)) throw error;
  }
}

/**
 * The job that numbers staged entries, soon after it is woken.
 *
 * @param wakeAgain called when another replica holds the lease: that replica may have missed the newest entries
 */
export const sequencerJob = (store: Store, wakeAgain: () => void, onNumbered: () => void): Job => ({
  name: SEQUENCER,
  // Numbers entries that another replica left.
  everyMs: 1_000,
  async run({ transaction, signal }) {
    if (await sequence(store, transaction, signal)) onNumbered();
    else wakeAgain();
  },
});

/** Returns a function that calls `work` after a moment; calls during that moment are one call. */
export function gather(work: () => void): () => void {
  let isGathering = false;
  return () => {
    if (isGathering) return;
    isGathering = true;
    setTimeout(() => {
      isGathering = false;
      work();
    }, GATHER_MS).unref();
  };
}
