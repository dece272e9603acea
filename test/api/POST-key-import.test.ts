import { expect } from 'vitest';
import { Instant } from '../../src/contract/scalars.ts';
import { newId } from '../../src/domain/ids.ts';
import { scenarios } from '../support/scenario.ts';
import type { World } from '../support/world.ts';

interface Subject {
  readonly productId: string;
  readonly otherProductId: string;
  readonly customerId: string;
  readonly licenseKey: string;
}

const KEY = 'ACME-2019-0042-F3D9-77AB-10CE';
/** The id of a key that was issued in 2019. */
const OLD_ID = newId('lic', Instant.decode('2019-05-04T08:00:00.016Z'), new Uint8Array(10).fill(7));
const ID = /^lic_[0-9a-z]{26}$/;
const imported = { status: 200, body: { code: 0, key: KEY, id: expect.stringMatching(ID) } };
const missing = { status: 400, code: 1, message: 'Missing required params' };
const keyTaken = { status: 409, code: 9, message: 'This key exists already' };

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

scenarios<Subject>('keys.import', shop, [
  {
    name: 'takes in a key as unlimited as can be when nothing else is said',
    as: 'admin',
    request: ({ productId }) => ({ body: { productId, key: KEY } }),
    expect: imported,
    wrote: { licenses: 1 },
    afterwards: async (world, { productId }) => {
      const { license, customer } = await shown(world, productId);
      expect(customer).toBeNull();
      expect(license).toMatchObject({
        key: KEY,
        maxActivations: null,
        activations: 0,
        expirationDate: null,
        createdAt: '2026-11-21T10:00:00.000Z',
      });
    },
  },
  {
    name: 'keeps every field, with the customer, the version and the devices',
    as: 'admin',
    request: ({ productId }) => ({
      body: {
        productId,
        key: KEY,
        id: OLD_ID,
        createdAt: '2019-05-04T08:00:00.016Z',
        reference: 'order-42',
        maxActivations: 3,
        expirationDate: '2027-11-21T10:00:00Z',
        expiresAfter: 'P2Y',
        gracePeriod: 'P14D',
        customer: { email: 'it@ada.example', name: 'Ada Ltd', active: false },
        licenseType: 'floating',
        maxConcurrentSessions: 4,
        heartbeatInterval: 60,
        sessionLeaseDuration: 600,
        allowedHosts: ['build-01', 'build-02'],
        metadata: { plan: 'pro', features: { sso: true }, is_trial: true },
        customerCanSelfReset: true,
        vendorDisabled: true,
        version: '2.1',
        devices: [
          {
            hostId: 'build-01',
            deviceTag: 'Build 1',
            ipAddress: '198.51.100.4',
            activationTime: '2019-05-05T09:30:00Z',
          },
          { hostId: 'build-02', deviceTag: 'No tag' },
        ],
      },
    }),
    expect: { status: 200, body: { code: 0, key: KEY, id: OLD_ID } },
    wrote: { licenses: 1, customers: 1, devices: 2 },
    afterwards: async (world, { productId }) => {
      const { license, customer } = await shown(world, productId);
      expect(customer).toEqual({ id: expect.any(String), name: 'Ada Ltd', email: 'it@ada.example', active: false });
      expect(license).toMatchObject({
        id: OLD_ID,
        reference: 'order-42',
        maxActivations: 3,
        activations: 2,
        activated: false,
        expirationDate: '2027-11-21T10:00:00.000Z',
        expiresAfter: 'P2Y',
        gracePeriod: 'P14D',
        licenseType: 'floating',
        maxConcurrentSessions: 4,
        heartbeatInterval: 60,
        sessionLeaseDuration: 600,
        allowedHosts: ['build-01', 'build-02'],
        metadata: { plan: 'pro', features: { sso: true }, is_trial: true },
        customerCanSelfReset: true,
        vendorDisabled: true,
        version: { version: '2.1' },
        createdAt: '2019-05-04T08:00:00.016Z',
        updatedAt: '2026-11-21T10:00:00.000Z',
        devices: [
          {
            hostId: 'build-01',
            deviceTag: 'Build 1',
            ipAddress: '198.51.100.4',
            activationTime: '2019-05-05T09:30:00.000Z',
          },
          {
            hostId: 'build-02',
            deviceTag: 'No tag',
            ipAddress: '203.0.113.7',
            activationTime: '2026-11-21T10:00:00.000Z',
          },
        ],
      });
    },
  },
  {
    name: 'finds its customer by the e-mail address, whatever its case',
    as: { scopes: ['license:write'] },
    request: ({ productId }) => ({
      body: { productId, key: KEY, customer: { email: 'ZOE@example.com', name: 'Other' } },
    }),
    expect: imported,
    wrote: { licenses: 1 },
    afterwards: async (world, { productId, customerId }) => {
      expect((await shown(world, productId)).customer).toMatchObject({ id: customerId, name: 'Zoë' });
    },
  },
  {
    name: 'finds its customer by id before the address, and creates one under an id that nobody has',
    as: 'admin',
    request: ({ productId }) => ({
      body: { productId, key: KEY, customer: { id: 'crm-77', email: 'new@example.com' } },
    }),
    expect: imported,
    wrote: { licenses: 1, customers: 1 },
    afterwards: async (world, { productId }) => {
      expect((await shown(world, productId)).customer).toMatchObject({ id: 'crm-77', name: 'new@example.com' });
    },
  },
  {
    name: 'announces no end that was before',
    as: 'admin',
    request: ({ productId }) => ({ body: { productId, key: KEY, expirationDate: '2020-01-01T00:00:00Z' } }),
    expect: imported,
    wrote: { licenses: 1 },
    afterwards: async (world) => {
      const { licenses = [] } = await world.contents();
      expect(licenses.find(({ license_key }) => license_key === KEY)).toMatchObject({
        soon_recorded_for: '2020-01-01T00:00:00.000Z',
        expired_recorded_for: '2020-01-01T00:00:00.000Z',
      });
    },
  },
  {
    name: 'may have more devices than slots with force',
    as: 'admin',
    request: ({ productId }) => ({
      body: { productId, key: KEY, maxActivations: 1, devices: [{ hostId: 'a' }, { hostId: 'b' }], force: true },
    }),
    expect: imported,
    wrote: { licenses: 1, devices: 2 },
  },
  {
    name: 'refuses more devices than slots without it',
    as: 'admin',
    request: ({ productId }) => ({
      body: { productId, key: KEY, maxActivations: 1, devices: [{ hostId: 'a' }, { hostId: 'b' }] },
    }),
    expect: { status: 409, code: 6, message: () => 'License is in use: 2 devices' },
  },
  {
    name: 'refuses a key that exists, and changes nothing of it',
    as: 'admin',
    request: ({ productId, licenseKey }) => ({ body: { productId, key: licenseKey, maxActivations: 1 } }),
    expect: keyTaken,
  },
  {
    name: 'refuses a key that another product has',
    as: 'admin',
    request: ({ otherProductId, licenseKey }) => ({ body: { productId: otherProductId, key: licenseKey } }),
    expect: keyTaken,
  },
  {
    name: 'refuses an id that another key has',
    as: 'admin',
    given: async (world, { productId }) => {
      const body = {
        productId,
        key: `${KEY}-1`,
        id: OLD_ID,
        createdAt: '2019-05-04T08:00:00.016Z',
      };
      expect((await world.call('admin', 'POST', '/key/import', body)).status).toBe(200);
    },
    request: ({ productId }) => ({
      body: { productId, key: KEY, id: OLD_ID, createdAt: '2019-05-04T08:00:00.016Z' },
    }),
    expect: keyTaken,
  },
  {
    name: 'refuses a reference that is taken',
    as: 'admin',
    request: ({ productId }) => ({ body: { productId, key: KEY, reference: 'order-1' } }),
    expect: { status: 409, code: 10, message: () => 'A key with reference order-1 already exists' },
  },
  {
    name: 'refuses a version that the product does not have',
    as: 'admin',
    request: ({ productId }) => ({ body: { productId, key: KEY, version: '9.9' } }),
    expect: { status: 404, code: 1, message: 'Version not found' },
  },
  {
    name: 'refuses a token of one product the customer of another by e-mail address',
    as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
    request: ({ productId }) => ({ body: { productId, key: KEY, customer: { email: 'Zoe@Example.com' } } }),
    expect: { status: 409, code: 2, message: () => 'A customer with email Zoe@Example.com already exists' },
  },
  {
    name: 'refuses a token of one product the customer of another by id',
    as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
    request: ({ productId, customerId }) => ({
      body: { productId, key: KEY, customer: { id: customerId, email: 'new@example.com' } },
    }),
    expect: { status: 404, code: 2, message: ({ customerId }) => `Customer ${customerId} not found` },
  },
  {
    name: 'takes a customer of the same product from a token of that product',
    as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
    given: async (world, { productId, customerId }) => {
      expect((await world.call('admin', 'POST', '/create-key', { productId, customerId })).status).toBe(200);
    },
    request: ({ productId }) => ({ body: { productId, key: KEY, customer: { email: 'zoe@example.com' } } }),
    expect: imported,
    wrote: { licenses: 1 },
  },
  {
    name: 'refuses a customer of whom only an id is given that nobody has',
    as: 'admin',
    request: ({ productId }) => ({ body: { productId, key: KEY, customer: { id: 'cus_nobody' } } }),
    expect: { status: 404, code: 2, message: () => 'Customer cus_nobody not found' },
  },
  {
    name: 'refuses a product that does not exist',
    as: 'admin',
    request: { body: { productId: 'prod_00000000000000000000000000', key: KEY } },
    expect: { status: 404, code: 1, message: 'Product not found' },
  },
  {
    name: 'refuses a product that the token is not for, as if it did not exist',
    as: ({ otherProductId }) => ({ scopes: ['license:write'], productIds: [otherProductId] }),
    request: ({ productId }) => ({ body: { productId, key: KEY } }),
    expect: { status: 404, code: 1, message: 'Product not found' },
  },
  {
    name: 'counts against the keys that a token may issue',
    as: { scopes: ['license:write'], maxIssues: 0 },
    request: ({ productId }) => ({ body: { productId, key: KEY } }),
    expect: { status: 403, code: 10, message: 'This token has issued all the keys it may issue' },
  },
  ...(
    [
      ['a key of 22 characters', { key: 'ACME-2019-0042-F3D9-77' }],
      ['a key with spaces around it', { key: ` ${KEY}` }],
      ['a creation that lies ahead', { createdAt: '2026-11-21T10:00:00.001Z' }],
      ['a creation before 1970', { createdAt: '1969-12-31T23:59:59Z' }],
      ['an activation that lies ahead', { devices: [{ hostId: 'a', activationTime: '2027-01-01T00:00:00Z' }] }],
      ['an id of another instant', { id: OLD_ID, createdAt: '2019-05-04T08:00:01Z' }],
      ['an id without an instant', { id: OLD_ID }],
      ['a host that is in it twice', { devices: [{ hostId: 'a' }, { hostId: 'a' }] }],
      ['an address that is none', { devices: [{ hostId: 'a', ipAddress: '203.0.*.*' }] }],
      ['sessions of a node-locked key', { maxConcurrentSessions: 3 }],
    ] as const
  ).map(([name, fields]) => ({
    name: `refuses ${name}`,
    as: 'admin' as const,
    request: ({ productId }: Subject) => ({ body: { productId, key: KEY, ...fields } }),
    expect: missing,
  })),
]);
