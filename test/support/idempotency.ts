import type { AccountId, Instant } from '../../src/contract/scalars.ts';
import { deriveKey } from '../../src/store/response-sealing.ts';
import type { IdempotencyRecord } from '../../src/store/tables/idempotency.ts';

/** A record as another service may have left it under an idempotency key: completed, without a response. */
export function foreignRecord(
  accountId: AccountId,
  key: string,
  changes: { readonly state?: IdempotencyRecord['state']; readonly createdAt: string },
): IdempotencyRecord {
  return {
    accountId,
    keyHash: deriveKey(accountId, key).hash,
    fingerprintVersion: 1,
    fingerprint: 'f',
    state: changes.state ?? 'completed',
    method: 'POST',
    path: '/create-key',
    tokenId: null,
    response: null,
    createdAt: changes.createdAt as Instant,
  };
}
