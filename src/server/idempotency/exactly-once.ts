import { apiError } from '../../contract/errors.ts';
import type { AccountId, Instant, TokenId } from '../../contract/scalars.ts';
import { OutcomeUnknown } from '../../store/errors.ts';
import {
  type DerivedKey,
  deriveKey,
  openResponse,
  type StoredResponse,
  sealResponse,
} from '../../store/response-sealing.ts';
import { NONCE_BYTES } from '../../store/secret-box.ts';
import type { Repositories, Store } from '../../store/store.ts';
import type { IdempotencyRecord } from '../../store/tables/idempotency.ts';
import { FINGERPRINT_VERSION } from './fingerprint.ts';

/** A request under an idempotency key, after the check that its caller may make it. */
export interface IdempotencyClaim {
  readonly accountId: AccountId;
  readonly tokenId: TokenId | null;
  readonly key: string;
  readonly fingerprint: string;
  readonly method: string;
  readonly path: string;
  readonly now: Instant;
  /** Throws if the caller may not receive a response that was stored for another token. */
  authorizeReplay(repositories: Repositories, response: StoredResponse, tokenId: TokenId | null): Promise<void>;
}

/** The response to a request, and whether an earlier request has stored it. */
export type ExecutionResult = StoredResponse & { readonly replayed: boolean };

export type ExactlyOnce = (
  claim: IdempotencyClaim,
  perform: (repositories: Repositories) => Promise<StoredResponse>,
) => Promise<ExecutionResult>;

/**
 * Returns a function that runs a mutation once per idempotency key. The claim, the mutation and the stored response are one
 * transaction: all three happen, or none does.
 *
 * The function throws ApiError `idempotencyKeyReused`, `legacyRecord`, `requestInProgress`, `storedResponseMissing` or
 * `unavailable`, and passes on what `perform`, the claim and the store throw. A key whose commit has an unknown outcome
 * stays in progress until the database answers again; then the record in it decides.
 *
 * @param random gives unpredictable bytes
 */
export function createExactlyOnce(store: Store, random: (length: number) => Uint8Array): ExactlyOnce {
  /** Fingerprints of the requests that run in this process, by key hash. The store keeps out other replicas. */
  const running = new Map<string, string>();

  return async (claim, perform) => {
    const derived = deriveKey(claim.accountId, claim.key);
    const fingerprint = running.get(derived.hash);
    if (fingerprint !== undefined)
      throw apiError(fingerprint === claim.fingerprint ? 'requestInProgress' : 'idempotencyKeyReused');
    running.set(derived.hash, claim.fingerprint);
    try {
      const result = await store.transaction((repositories) =>
        runOrReplay(repositories, claim, derived, perform, random(NONCE_BYTES)),
      );
      running.delete(derived.hash);
      return result;
    } catch (error) {
      if (error instanceof OutcomeUnknown) void store.settled().then(() => running.delete(derived.hash));
      else running.delete(derived.hash);
      throw error;
    }
  };
}

async function runOrReplay(
  repositories: Repositories,
  claim: IdempotencyClaim,
  { hash, sealingKey }: DerivedKey,
  perform: (repositories: Repositories) => Promise<StoredResponse>,
  nonce: Uint8Array,
): Promise<ExecutionResult> {
  // Sent together to save a round trip. The database runs them in this order, so the record is read after the claim.
  const [isClaimed, record] = await Promise.all([
    repositories.idempotency.claim(claim.accountId, hash),
    repositories.idempotency.find(claim.accountId, hash),
  ]);
  if (!isClaimed) throw apiError('requestInProgress');
  if (record !== null) {
    const response = readResponse(record, claim, sealingKey);
    // Waits for the standby: a commit that has not reached it can be read here, but would be lost in a failover.
    await repositories.confirm();
    if (record.tokenId !== claim.tokenId) await claim.authorizeReplay(repositories, response, record.tokenId);
    return { ...response, replayed: true };
  }

  const { accountId, tokenId, fingerprint, method, path, now } = claim;
  const response = await perform(repositories);
  await repositories.idempotency.insert({
    accountId,
    keyHash: hash,
    fingerprintVersion: FINGERPRINT_VERSION,
    fingerprint,
    state: 'completed',
    method,
    path,
    tokenId,
    response: sealResponse(response, sealingKey, { accountId, fingerprint, tokenId }, nonce),
    createdAt: now,
  });
  return { ...response, replayed: false };
}

function readResponse(record: IdempotencyRecord, claim: IdempotencyClaim, sealingKey: Uint8Array): StoredResponse {
  if (record.fingerprintVersion !== FINGERPRINT_VERSION) throw apiError('legacyRecord');
  if (record.fingerprint !== claim.fingerprint) throw apiError('idempotencyKeyReused');
  if (record.state === 'in_progress') throw apiError('requestInProgress');
  if (record.response === null) throw apiError('storedResponseMissing');
  try {
    return openResponse(record.response, sealingKey, record);
  } catch (cause) {
    throw apiError('unavailable', {}, { cause });
  }
}
