import { DEFAULT_HEARTBEAT_SECONDS, DEFAULT_LEASE_SECONDS } from '../src/contract/keys/licenses.ts';
import type { AccountId, Instant, ProductId } from '../src/contract/scalars.ts';
import { newId } from '../src/domain/ids.ts';
import type { License } from '../src/domain/license.ts';
import { mintKey } from '../src/domain/license-key.ts';
import { createRandom } from '../src/service/context.ts';

const random = createRandom();

/** A fresh licence that is unlimited and never expires. */
export function freshLicense(accountId: AccountId, productId: ProductId, now: Instant): License {
  return {
    id: newId('lic', now, random(10)),
    accountId,
    productId,
    key: mintKey(random(15)),
    reference: null,
    customerId: null,
    maxActivations: null,
    activations: 0,
    expirationDate: null,
    expiresAfter: null,
    gracePeriod: null,
    features: {},
    metadata: {},
    isTrial: false,
    allowedHosts: null,
    licenseType: 'node-locked',
    maxConcurrentSessions: null,
    heartbeatInterval: DEFAULT_HEARTBEAT_SECONDS,
    sessionLeaseDuration: DEFAULT_LEASE_SECONDS,
    customerCanSelfReset: false,
    vendorDisabled: false,
    versionId: null,
    createdAt: now,
    updatedAt: now,
  };
}
