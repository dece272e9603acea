import { type CheckpointParts, isCheckpointDue, signLastRow } from '../../service/audit.ts';
import type { Repositories, Store } from '../../store/store.ts';
import type { Job } from './job.ts';

const SIGN_EVERY_MS = 1_000;

/**
 * Signs a checkpoint for each account whose checkpoint is due. A damaged signing key of one account does not keep other
 * accounts from their checkpoints; its error is thrown in the end.
 */
export async function signCheckpoints(
  { repositories }: Store,
  transaction: (work: (repositories: Repositories) => Promise<void>) => Promise<unknown>,
  parts: CheckpointParts,
  signal?: AbortSignal,
): Promise<void> {
  const errors: unknown[] = [];
  const { recordHeads } = repositories;
  let heads = await recordHeads.listUnsigned('');
  for (let last = heads.at(-1); last !== undefined; last = heads.at(-1)) {
    for (const head of heads) {
      if (signal?.aborted) return;
      if (!isCheckpointDue(head, parts.now())) continue;
      await transaction((inside) => signLastRow(inside, head.accountId, parts)).catch((error) => errors.push(error));
    }
    heads = await recordHeads.listUnsigned(last.accountId);
  }
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} accounts have no new checkpoint`);
  if (errors.length === 1) throw errors[0];
}

export const checkpointJob = (store: Store, parts: CheckpointParts): Job => ({
  name: 'checkpoints',
  everyMs: SIGN_EVERY_MS,
  run: ({ transaction, signal }) => signCheckpoints(store, transaction, parts, signal),
});
