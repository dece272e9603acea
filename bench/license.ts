import type { AccountId, Instant, ProductId } from '../src/contract/scalars.ts';
import { newId } from '../src/domain/ids.ts';
import { HEARTBEAT_INTERVAL_SECONDS, type License, SESSION_LEASE_SECONDS } from '../src/domain/license.ts';
import { mintKey } from '../src/domain/license-key.ts';
import { createRandom } from '../src/service/random.ts';

const random = createRandom();

/** A fresh licence that is unlimited and never expires. */
export function freshLicense(accountId: AccountId, productId: ProductId, now: Instant): License {
  return {
    id: newId('lic', now, random(10)),
    accountId,
    productId,
    key: mintKey(random(15)),
    customerId: null,
    maxActivations: null,
    activations: 0,
    expirationDate: null,
    features: {},
    isTrial: false,
    allowedHosts: null,
    licenseType: 'node-locked',
    maxConcurrentSessions: null,
    heartbeatInterval: HEARTBEAT_INTERVAL_SECONDS,
    sessionLeaseDuration: SESSION_LEASE_SECONDS,
    customerCanSelfReset: false,
    vendorDisabled: false,
    versionId: null,
    createdAt: now,
    updatedAt: now,
  };
}
