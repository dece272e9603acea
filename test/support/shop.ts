import { expect } from 'vitest';
import { type Afterwards, type Row, row } from './scenario.ts';
import { type Address, PEER, STARTED_AT, type World } from './world.ts';

/** A key of Zoë's, and a product that it is not of. */
export interface Shop {
  readonly address: Address;
  readonly customerId: string;
  readonly otherProductId: string;
}

/** What the operations on customers, products, tokens, webhooks and signing keys answer. */
export const acted = (action: string, data?: unknown, meta?: object) => ({
  action,
  status: true,
  ...(data !== undefined && { data }),
  ...(meta && { meta }),
  code: 0,
});

/** A licence as it is shown that was created without a field but its product, but for these. */
export const shownLicense = (fields: object) => ({
  id: expect.stringMatching(/^lic_[0-9a-z]{26}$/),
  productName: 'Editor',
  maxActivations: null,
  activations: 0,
  activated: false,
  expirationDate: '2026-12-21T10:00:00.000Z',
  reference: null,
  expiresAfter: null,
  gracePeriod: null,
  graceUntil: null,
  metadata: { features: {}, is_trial: false },
  allowedHosts: null,
  licenseType: 'node-locked',
  maxConcurrentSessions: null,
  heartbeatInterval: 300,
  sessionLeaseDuration: 900,
  customerCanSelfReset: true,
  vendorDisabled: false,
  ...{ revokedAt: null, revocationReason: null, previousKeyUntil: null, renewalDay: null },
  ...{ planId: null, plan: null, fingerprintMatch: null, lastSeenOn: null },
  versionId: null,
  version: null,
  createdAt: STARTED_AT,
  updatedAt: STARTED_AT,
  ...fields,
});

/** A token of kind scoped as it is shown, but for these fields. */
export const shownToken = (fields: object) => ({
  ...{ id: expect.stringMatching(/^tok_[0-9a-z]{26}$/), name: 'reader', kind: 'scoped', productIds: null },
  ...{ networks: null, maxIssues: null, issued: null, rateLimit: null, revokedAt: null, lastUsedOn: null },
  createdAt: STARTED_AT,
  ...fields,
});

/** A device as it is shown to those who see addresses, but for these fields. */
export const shownDevice = (fields: object = {}) => ({
  id: expect.stringMatching(/^dev_[0-9a-z]{26}$/),
  hostId: 'host-1',
  deviceTag: 'No tag',
  ipAddress: PEER,
  activationTime: STARTED_AT,
  lastSeenOn: STARTED_AT.slice(0, 10),
  ...fields,
});

type KeyFields = Readonly<Record<string, unknown>>;

/** Opens a shop whose key has these fields and is signed for these hosts. */
export const shopWith =
  (fields: KeyFields = {}, ...hostIds: readonly string[]) =>
  async (world: World): Promise<Shop> => {
    const { id: productId } = await world.product();
    const { id: customerId } = await world.customer({ name: 'Zoë', email: 'zoe@example.com' });
    const address = { productId, licenseKey: await world.key({ productId, customerId, ...fields }) };
    await world.activate(address, ...hostIds);
    return { address, customerId, otherProductId: (await world.product('Viewer')).id };
  };

/** A key of the same product that is nobody's in place of the first one, signed for these hosts. */
export const another =
  (fields: KeyFields, ...hostIds: readonly string[]) =>
  async (world: World, { address: { productId } }: Shop): Promise<Pick<Shop, 'address'>> => {
    const address = { productId, licenseKey: await world.key({ productId, ...fields }) };
    await world.activate(address, ...hostIds);
    return { address };
  };

/** Signs files for these hosts too. */
export const signedFor =
  (...hostIds: readonly string[]) =>
  (world: World, { address }: Shop): Promise<void> =>
    world.activate(address, ...hostIds);

export const revoked = (world: World): Promise<void> =>
  world.sql(`update licenses set vendor_disabled = 1, revoked_at = '${STARTED_AT}'`);

/** What changes a licence refuses for one that has ended for ever. */
export const refusesRevoked: Row<Shop> = row('refuses a licence that was revoked', 'licenseRevoked', {
  given: revoked,
});

export const blocked = (world: World): Promise<void> => world.sql('update licenses set vendor_disabled = 1');

export const ofInactiveCustomer = (world: World): Promise<void> => world.sql('update customers set active = 0');

/** These hosts then hold a slot, and the licence counts them. */
export const leaves =
  (...hostIds: readonly string[]): Afterwards<Shop> =>
  async (world, { address }) => {
    const { activations, activated, devices } = await world.license(address);
    const hosts = devices.map(({ hostId }) => hostId).sort();
    expect({ activations, activated, hosts }).toEqual({
      activations: hostIds.length,
      activated: hostIds.length > 0,
      hosts: hostIds,
    });
  };

/** What the operations that use a licence refuse alike: what it may not be used for any more. */
export const unusable: readonly Row<Shop>[] = [
  row('refuses a licence from the instant of its expiry on', 'licenseExpired', { at: '2026-12-21T10:00:00.000Z' }),
  row('refuses a licence that the vendor has disabled', 'licenseDisabled', { given: blocked }),
  refusesRevoked,
  row('refuses the licence of a customer that is not active', 'customerInactive', { given: ofInactiveCustomer }),
];

/** Keys that no operation finds; those of others are asked for in isolation.test.ts. */
export const unknownKeys = (reason: 'licenseNotFound' | 'deviceNotFound' = 'licenseNotFound'): readonly Row<Shop>[] => [
  row('refuses a key that is not there', reason, { send: { licenseKey: '00000-00000-00000-00000-00000' } }),
  row('refuses a key of another product', reason, { send: ({ otherProductId }) => ({ productId: otherProductId }) }),
];

/** Gives a product the version ver_1. */
export const addVersion = (world: World, productId: string): Promise<boolean> =>
  world.store.transaction((repositories) =>
    repositories.productVersions.insert({
      accountId: world.accounts.acme,
      id: 'ver_1',
      productId,
      version: '1.0',
      description: null,
      createdAt: STARTED_AT,
    }),
  );
