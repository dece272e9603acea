import type { audit } from '../contract/audit.ts';
import { DEFAULT_PAGE_SIZE } from '../contract/fields.ts';
import type { AccountId, Instant, ShownIp } from '../contract/scalars.ts';
import { allows, type Caller, seesSecrets } from '../domain/access.ts';
import { FIRST_HASH, signCheckpoint } from '../domain/audit-chain.ts';
import { type IpAddress, showIp } from '../domain/ip-address.ts';
import { addSeconds } from '../domain/time.ts';
import type { Repositories } from '../store/store.ts';
import type { RecordNames } from '../store/tables/record/audit.ts';
import type { RecordHead } from '../store/tables/record/heads.ts';
import type { SignerOf } from './context.ts';
import { showNames } from './keys/show.ts';
import { readAuditRow } from './numbering.ts';
import { type Operations, ofWholeAccount } from './operation.ts';

export const auditOperations: Operations<typeof audit> = {
  list: {
    authorize: ofWholeAccount,
    async perform({ repositories, caller }, { after = 0, limit = DEFAULT_PAGE_SIZE }) {
      const head = await repositories.recordHeads.find(caller.accountId);
      const { auditSeq: seq, auditHash: hash } = head ?? { auditSeq: 0, auditHash: FIRST_HASH };
      const found = await repositories.audit.list(caller.accountId, { after, until: seq, limit });
      const items = found.map(({ hash, names, ...stored }) => {
        const row = readAuditRow(stored);
        // With the salt, the hidden part of an address could be tried until the hash fits.
        const salt = seesSecrets(caller) ? row.salt : null;
        return { ...row, address: showAddress(row.address, caller), salt, hash, ...showRecordNames(names, caller) };
      });
      const last = found.length === limit ? found.at(-1)?.seq : seq;
      return { items, meta: { last: last ?? 0, head: { seq, hash } } };
    },
  },

  checkpoints: {
    authorize: ofWholeAccount,
    async perform({ repositories, caller }, { after = 0, limit = DEFAULT_PAGE_SIZE }) {
      const items = await repositories.checkpoints.list(caller.accountId, { after, limit });
      return { items, meta: { last: items.at(-1)?.seq ?? after } };
    },
  },
};

export const showAddress = (address: IpAddress | null, caller: Caller): ShownIp | null =>
  address === null ? null : showIp(address, seesSecrets(caller));

/** The names of the token, product and customer of a row, each for who may list these. */
export const showRecordNames = ({ tokenName, ...names }: RecordNames, caller: Caller): Partial<RecordNames> => ({
  ...(allows(caller, 'token:read') && { tokenName }),
  ...showNames(names, caller),
});

/** The last row is signed once this many rows follow the last checkpoint. */
const CHECKPOINT_ROWS = 1_000;

/** It is also signed once the last checkpoint is this old. */
const CHECKPOINT_SECONDS = 60 * 60;

export interface CheckpointParts {
  readonly signerOf: SignerOf;
  now(): Instant;
}

/** Whether it is time for a checkpoint: also when a wrong clock has dated the last checkpoint in the future. */
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
