import { expect } from 'vitest';
import { Instant } from '../../src/contract/scalars.ts';
import { newId } from '../../src/domain/ids.ts';
import { recordedOf } from '../support/recorded.ts';
import { answers, refuses, row, scenarios } from '../support/scenario.ts';
import { shownDevice } from '../support/shop.ts';
import { STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  readonly productId: string;
  readonly otherProductId: string;
  readonly customerId: string;
  readonly licenseKey: string;
}

const KEY = 'ACME-2019-0042-F3D9-77AB-10CE';
/** The id of a key that was issued in 2019. */
const OLD_ID = newId('lic', Instant.decode('2019-05-04T08:00:00.016Z'), new Uint8Array(10).fill(7));
/** The fields that are shown as they are given. */
const everyField = {
  ...{ id: OLD_ID, createdAt: '2019-05-04T08:00:00.016Z', reference: 'order-42', maxActivations: 3 },
  ...{ expirationDate: '2027-11-21T10:00:00.000Z', expiresAfter: 'P2Y', gracePeriod: 'P14D' },
  ...{ licenseType: 'floating', maxConcurrentSessions: 4, heartbeatInterval: 60, sessionLeaseDuration: 600 },
  allowedHosts: ['build-01', 'build-02'],
  metadata: { plan: 'pro', features: { sso: true }, is_trial: true },
  ...{ customerCanSelfReset: false, vendorDisabled: true },
};
const firstDevice = {
  hostId: 'build-01',
  deviceTag: 'Build 1',
  ipAddress: '198.51.100.4',
  activationTime: '2019-05-05T09:30:00Z',
};
const taken = (email: string) => ['emailTaken', `A customer with email ${email} already exists`] as const;
const ofProduct = ({ productId }: Subject) => ({ kind: 'admin', productIds: [productId] }) as const;
const ID = /^lic_[0-9a-z]{26}$/;
const imported = { body: { code: 0, key: KEY, id: expect.stringMatching(ID) } };

async function shop(world: World): Promise<Subject> {
  const productId = (await world.product()).id;
  const { body } = await world.call('admin', 'POST', '/create-key', { productId, reference: 'order-1' });
  await world.call('admin', 'POST', '/product/version', { productId, version: '2.1' });
  return {
    productId,
    otherProductId: (await world.product('Viewer')).id,
    customerId: (await world.customer({ name: 'Zoë', email: 'zoe@example.com' })).id,
    licenseKey: body.key,
  };
}

const shown = async (world: World, productId: string) => {
  const query = new URLSearchParams({ productId, licenseKey: KEY });
  return (await world.call('admin', 'GET', `/key?${query}`)).body.data;
};

scenarios<Subject>(
  'keys.import',
  { given: shop, body: ({ productId }) => ({ productId, key: KEY }), wrote: { licenses: 1 } },
  [
    row(
      'keeps every field, with the customer, the version and the devices',
      answers({ code: 0, key: KEY, id: OLD_ID }),
      {
        send: {
          ...everyField,
          customer: { email: 'it@ada.example', name: 'Ada Ltd', active: false },
          version: '2.1',
          devices: [firstDevice, { hostId: 'build-02', deviceTag: 'No tag' }],
        },
        wrote: { licenses: 1, customers: 1, devices: 2 },
        afterwards: async (world, { productId }) => {
          const { license, customer } = await shown(world, productId);
          const { events } = await recordedOf(world, 'keys.import');
          expect(events.at(-1)).toMatchObject({ type: 'license.created', data: { imported: true, devices: 2 } });
          expect(customer).toEqual({ id: expect.any(String), name: 'Ada Ltd', email: 'it@ada.example', active: false });
          expect(license).toMatchObject({
            ...{ ...everyField, activations: 2, activated: false, version: { version: '2.1' }, updatedAt: STARTED_AT },
            devices: [
              { ...firstDevice, activationTime: '2019-05-05T09:30:00.000Z' },
              shownDevice({ hostId: 'build-02', lastSeenOn: null }),
            ],
          });
        },
      },
    ),
    row('finds its customer by the e-mail address, whatever its case', imported, {
      send: { customer: { email: 'ZOE@example.com', name: 'Other' } },
      as: { scopes: ['license:write'] },
      afterwards: async (world, { productId, customerId }) => {
        expect((await shown(world, productId)).customer).toMatchObject({ id: customerId, name: 'Zoë' });
      },
    }),
    row('finds its customer by the e-mail address, however its domain is written', imported, {
      given: async (world) => void (await world.customer({ name: 'Sh', email: 'me@shöpware.example' })),
      send: { customer: { email: 'ME@xn--shpware-b1a.example', name: 'Other' } },
      afterwards: async (world, { productId }) => {
        const { customer } = await shown(world, productId);
        expect(customer).toMatchObject({ name: 'Sh', email: 'me@shöpware.example' });
      },
    }),
    row('finds its customer by id before the address, and creates one under an id that nobody has', imported, {
      send: { customer: { id: 'crm-77', email: 'new@example.com' } },
      wrote: { licenses: 1, customers: 1 },
      afterwards: async (world, { productId }) => {
        expect((await shown(world, productId)).customer).toMatchObject({ id: 'crm-77', name: 'new@example.com' });
      },
    }),
    row('announces no end that was before, and may have more devices than slots with force', imported, {
      send: {
        expirationDate: '2020-01-01T00:00:00Z',
        ...{ maxActivations: 1, devices: [{ hostId: 'a' }, { hostId: 'b' }], force: true },
      },
      wrote: { licenses: 1, devices: 2 },
      afterwards: async (world) => {
        const { licenses = [] } = await world.contents();
        expect(licenses.find(({ license_key }) => license_key === KEY)).toMatchObject({
          soon_recorded_for: '2020-01-01T00:00:00.000Z',
          expired_recorded_for: '2020-01-01T00:00:00.000Z',
        });
      },
    }),
    row('refuses more devices than slots without it', ['inUse', 'License is in use: 2 devices'], {
      send: { maxActivations: 1, devices: [{ hostId: 'a' }, { hostId: 'b' }] },
    }),
    row('refuses a key that exists, and changes nothing of it', 'keyTaken', {
      send: ({ licenseKey }) => ({ key: licenseKey, maxActivations: 1 }),
    }),
    row('refuses a key that was revoked, also when its licence was deleted', 'keyRevoked', {
      send: ({ licenseKey }) => ({ key: licenseKey }),
      given: async (world, { productId, licenseKey }) => {
        const address = { productId, licenseKey };
        await world.call('admin', 'POST', '/key/revoke', address);
        const { status } = await world.call('admin', 'DELETE', `/key?${new URLSearchParams(address)}`);
        expect(status).toBe(200);
      },
    }),
    row('refuses an id that another key has', 'keyTaken', {
      send: { id: OLD_ID, createdAt: '2019-05-04T08:00:00.016Z' },
      given: async (world, { productId }) => {
        const body = { productId, key: `${KEY}-1`, id: OLD_ID, createdAt: '2019-05-04T08:00:00.016Z' };
        expect((await world.call('admin', 'POST', '/key/import', body)).status).toBe(200);
      },
    }),
    row('refuses a reference that is taken', ['referenceTaken', 'A key with reference order-1 already exists'], {
      send: { reference: 'order-1' },
    }),
    row('refuses a version that the product does not have', 'versionNotFound', { send: { version: '9.9' } }),
    row('refuses a plan that the product does not have', 'planNotFound', { send: { plan: 'Pro' } }),
    row('keeps the plan, by its name, and that it was revoked', imported, {
      send: { plan: 'Pro', revokedAt: '2020-01-01T00:00:00Z', revocationReason: 'fraud', fingerprintMatch: 2 },
      given: async (world, { productId }) =>
        void (await world.call('admin', 'POST', '/plan', { productId, name: 'Pro', features: { sso: true } })),
      afterwards: async (world, { productId }) =>
        expect((await shown(world, productId)).license).toMatchObject({
          ...{ revokedAt: '2020-01-01T00:00:00.000Z', revocationReason: 'fraud', vendorDisabled: true },
          ...{ plan: { name: 'Pro' }, metadata: { features: { sso: true } }, fingerprintMatch: 2 },
        }),
    }),
    row('follows its plan also where the file names what that switches on', imported, {
      send: { plan: 'Pro', metadata: { features: { sso: true, seats: 5, own: 1 } } },
      given: async (world, { productId }) =>
        void (await world.call('admin', 'POST', '/plan', {
          productId,
          name: 'Pro',
          features: { sso: true, seats: 3 },
        })),
      afterwards: async (world, { productId }) => {
        const { license } = await shown(world, productId);
        const change = { features: { sso: null, seats: null } };
        await world.call('admin', 'PUT', `/plan/by-id?planId=${license.planId}`, change);
        expect((await shown(world, productId)).license.metadata.features).toEqual({ seats: 5, own: 1 });
      },
    }),
    ...refuses('invalidParams', {
      'a revocation of the future': { revokedAt: '2027-01-01T00:00:00Z' },
      'a reason without a revocation': { revocationReason: 'fraud' },
    }),
    row('refuses a token of one product the customer of another by e-mail address', taken('Zoe@Example.com'), {
      send: { customer: { email: 'Zoe@Example.com' } },
      as: ofProduct,
    }),
    row(
      'refuses a token of one product the customer of another by id',
      ['customerNotFound', ({ customerId }) => `Customer ${customerId} not found`],
      { send: ({ customerId }) => ({ customer: { id: customerId, email: 'new@example.com' } }), as: ofProduct },
    ),
    row('refuses an id alone that nobody has', ['customerNotFound', 'Customer cus_nobody not found'], {
      send: { customer: { id: 'cus_nobody' } },
    }),
    row('refuses a product that does not exist', 'productNotFound', {
      send: { productId: 'prod_00000000000000000000000000' },
    }),
    row('counts against the keys that a token may issue', 'issueLimit', {
      as: { scopes: ['license:write'], maxIssues: 0 },
    }),
    ...refuses('invalidParams', {
      'a creation that lies ahead': { createdAt: '2026-11-21T10:00:00.001Z' },
      'an activation that lies ahead': { devices: [{ hostId: 'a', activationTime: '2027-01-01T00:00:00Z' }] },
      'an id of another instant': { id: OLD_ID, createdAt: '2019-05-04T08:00:01Z' },
      'an id without an instant': { id: OLD_ID },
      'a host that is in it twice': { devices: [{ hostId: 'a' }, { hostId: 'a' }] },
    }),
  ],
);
