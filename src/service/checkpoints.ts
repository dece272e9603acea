import type { AccountId, Instant } from '../contract/scalars.ts';
import { signCheckpoint } from '../domain/audit-chain.ts';
import { addSeconds } from '../domain/time.ts';
import type { Repositories } from '../store/store.ts';
import type { RecordHead } from '../store/tables/record/heads.ts';
import type { SignerOf } from './context.ts';

/** The last row is signed once this many rows follow the last checkpoint. */
const CHECKPOINT_ROWS = 1_000;

/** It is also signed once the last checkpoint is this old. */
const CHECKPOINT_SECONDS = 60 * 60;

/** What checkpoints are made with. */
export interface CheckpointParts {
  readonly signerOf: SignerOf;
  now(): Instant;
}

/** Whether it is time for a checkpoint. One of a time to come is of a clock that was wrong. */
export const isCheckpointDue = ({ auditSeq, checkpointSeq, checkpointAt }: RecordHead, at: Instant): boolean =>
  auditSeq > checkpointSeq &&
  (auditSeq - checkpointSeq >= CHECKPOINT_ROWS ||
    checkpointAt === null ||
    checkpointAt <= addSeconds(at, -CHECKPOINT_SECONDS) ||
    checkpointAt > at);

/**
 * Signs the last row of an account when a checkpoint is due, in a transaction of its own: a damaged signing key must
 * refuse no change. An account that was copied in without a signing key has its rows linked, and not signed.
 */
export async function signLastRow(
  repositories: Repositories,
  accountId: AccountId,
  { signerOf, now }: CheckpointParts,
): Promise<void> {
  const head = await repositories.recordHeads.lock(accountId);
  const at = now();
  if (head === null || !isCheckpointDue(head, at)) return;
  const { auditSeq: seq, auditHash: hash } = head;
  if ((await repositories.signingKeys.current(accountId)) !== null) {
    const signer = await signerOf(repositories, accountId);
    await repositories.checkpoints.insert(signCheckpoint(signer, { accountId, seq, hash, at }));
  }
  await repositories.recordHeads.move({ ...head, checkpointSeq: seq, checkpointAt: at });
}
