import type { ApiError } from '../../contract/errors.ts';
import { apiError } from '../../contract/errors.ts';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import { OutcomeUnknown } from '../../store/engine/storage-error.ts';
import type { Repositories, Store } from '../../store/store.ts';
import type { IdempotencyRecord, StoredResponse } from '../../store/tables/idempotency.ts';
import { FINGERPRINT_VERSION } from './fingerprint.ts';

/** A request under an idempotency key. */
export interface Claim {
  readonly accountId: AccountId;
  readonly key: string;
  readonly fingerprint: string;
  readonly method: string;
  readonly path: string;
  readonly now: Instant;
}

/** What goes out: given now, or given before and repeated. */
export type Settled = StoredResponse & { readonly replayed: boolean };

/** Runs each claim once, however often it is made. */
export type ExactlyOnce = (
  claim: Claim,
  perform: (repositories: Repositories) => Promise<StoredResponse>,
) => Promise<Settled>;

/**
 * Claim, mutation and stored answer are one transaction, so that a mutation that has happened always has its answer,
 * and one that has not leaves no trace.
 *
 * The function it makes throws ApiError `idempotencyKeyReused`, `legacyRecord`, `requestInProgress` or `storedResponseMissing`, and
 * passes on what `perform` and the store throw. A claim whose commit has no known outcome stays taken until the
 * database answers again; what it then holds decides.
 */
export function createExactlyOnce(store: Store): ExactlyOnce {
  /** Fingerprints of what runs in this process, by account and key. Other replicas are kept out by the store. */
  const running = new Map<string, string>();

  return async (claim, perform) => {
    const name = `${claim.accountId} ${claim.key}`;
    const fingerprint = running.get(name);
    if (fingerprint !== undefined)
      throw apiError(fingerprint === claim.fingerprint ? 'requestInProgress' : 'idempotencyKeyReused');
    running.set(name, claim.fingerprint);
    try {
      const settled = await store.transaction((repositories) => settle(repositories, claim, perform));
      running.delete(name);
      return settled;
    } catch (error) {
      if (error instanceof OutcomeUnknown) void store.settled().then(() => running.delete(name));
      else running.delete(name);
      throw error;
    }
  };
}

async function settle(
  repositories: Repositories,
  claim: Claim,
  perform: (repositories: Repositories) => Promise<StoredResponse>,
): Promise<Settled> {
  if (!(await repositories.idempotency.claim(claim.accountId, claim.key))) throw apiError('requestInProgress');
  const record = await repositories.idempotency.find(claim.accountId, claim.key);
  if (record !== null) return { ...answerOf(record, claim), replayed: true };

  const answer = await perform(repositories);
  await repositories.idempotency.insert({
    accountId: claim.accountId,
    key: claim.key,
    fingerprintVersion: FINGERPRINT_VERSION,
    fingerprint: claim.fingerprint,
    state: 'completed',
    method: claim.method,
    path: claim.path,
    answer,
    createdAt: claim.now,
  });
  return { ...answer, replayed: false };
}

/** What a record says to a claim on its key: its answer, or why not. */
function answerOf(record: IdempotencyRecord, claim: Claim): StoredResponse {
  const refusal = refusalOf(record, claim);
  if (refusal !== null) throw refusal;
  if (record.answer === null) throw apiError('storedResponseMissing');
  return record.answer;
}

function refusalOf(record: IdempotencyRecord, claim: Claim): ApiError | null {
  if (record.fingerprintVersion !== FINGERPRINT_VERSION) return apiError('legacyRecord');
  if (record.fingerprint !== claim.fingerprint) return apiError('idempotencyKeyReused');
  return record.state === 'in_progress' ? apiError('requestInProgress') : null;
}
