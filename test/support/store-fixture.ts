import type { AccountId, HostId, Instant, ProductId } from '../../src/contract/scalars.ts';
import type { IpAddress } from '../../src/domain/ip-address.ts';
import type { License } from '../../src/domain/license.ts';
import { createSigner } from '../../src/domain/license-file/sign.ts';
import { deriveKey } from '../../src/store/response-sealing.ts';
import type { Store } from '../../src/store/store.ts';
import type { IdempotencyRecord } from '../../src/store/tables/idempotency.ts';
import { licenseWith, now, privatePems, publicPemOf } from '../domain/examples.ts';
import type { Engine } from './engines.ts';

export const accountId = 'acc_1' as AccountId;

const productId = 'prod_0000000000000000000001' as ProductId;

/** Adds an account, with a signing key. */
export async function insertAccount(
  store: Store,
  account: { readonly id: AccountId; readonly name: string; readonly createdAt: Instant },
  privatePem: string = privatePems[0],
): Promise<void> {
  const { id, createdAt } = account;
  const { kid } = createSigner(privatePem);
  await store.transaction(async (repositories) => {
    await repositories.accounts.insert(account);
    const publicPem = publicPemOf(privatePem);
    await repositories.signingKeys.insert({ accountId: id, kid, privatePem, publicPem, createdAt });
  });
}

/** Puts an account with one product and one licence into a store, without the service; `changes` are the licence's. */
export async function insertLicense(store: Store, changes: Partial<License> = {}): Promise<License> {
  const license = licenseWith({ accountId, productId, ...changes });
  await insertAccount(store, { id: accountId, name: 'acme', createdAt: now });
  await store.transaction(async (repositories) => {
    await repositories.products.insert({ accountId, id: productId, name: 'Editor', now });
    await repositories.keys.insert(license);
  });
  return license;
}

/** A database with what {@link insertLicense} puts into it. */
export async function databaseWithLicense(engine: Engine, changes: Partial<License> = {}) {
  const database = await engine.createDatabase();
  return { ...database, license: await insertLicense(database.store, changes) };
}

/** A device as the store takes it. */
export const device = (hostId: string) => ({
  id: `dev_${hostId}`,
  hostId: hostId as HostId,
  deviceTag: null,
  ipAddress: '203.0.113.7' as IpAddress,
  activationTime: now as Instant,
});

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
