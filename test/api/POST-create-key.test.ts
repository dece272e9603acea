import { expect } from 'vitest';
import { type Afterwards, scenarios } from '../support/scenario.ts';
import type { World } from '../support/world.ts';

interface Subject {
  readonly productId: string;
  readonly otherProductId: string;
  readonly customerId: string;
}

const KEY = /^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}$/;
const issued = { status: 200, body: { code: 0, key: expect.stringMatching(KEY) } };
const missing = { status: 400, code: 1, message: 'Missing required params' };
const unavailable = { status: 404, code: 1, message: 'Product not found or inactive' };

/** As much free metadata as a key may have. */
const fullMetadata = {
  ...Object.fromEntries(Array.from({ length: 47 }, (_, i) => [`entry ${i}`, i])),
  ['n'.repeat(64)]: true,
  note: 'x'.repeat(500),
  'order number': 'A-1042 é',
};

/** What the licence looks like that the answer's key names. */
const shows =
  (fields: Readonly<Record<string, unknown>>): Afterwards<Subject> =>
  async (world, { productId }, { body }) => {
    expect(await world.license({ productId, licenseKey: body.key })).toMatchObject(fields);
  };

const customerOf = async (world: World, productId: string, licenseKey: string) => {
  const query = new URLSearchParams({ productId, licenseKey });
  return (await world.call('admin', 'GET', `/key?${query}`)).body.data.customer;
};

scenarios<Subject>(
  'keys.create',
  async (world) => ({
    productId: (await world.product()).id,
    otherProductId: (await world.product('Viewer')).id,
    customerId: (await world.customer({ name: 'Zoë', email: 'zoe@example.com' })).id,
  }),
  [
    {
      name: 'issues a key without limits, whose every other field has its default',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId } }),
      expect: issued,
      wrote: { licenses: 1 },
      afterwards: async (world, { productId }, { body }) => {
        expect(await world.license({ productId, licenseKey: body.key })).toEqual({
          id: expect.stringMatching(/^lic_[0-9a-z]{26}$/),
          key: body.key,
          productId,
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
          customerCanSelfReset: false,
          vendorDisabled: false,
          devices: [],
          versionId: null,
          version: null,
          createdAt: '2026-11-21T10:00:00.000Z',
          updatedAt: '2026-11-21T10:00:00.000Z',
        });
      },
    },
    {
      name: 'keeps every field that is given',
      as: 'admin',
      request: ({ productId }) => ({
        body: {
          productId,
          usesPerKey: '3',
          expiryDate: '2027-06-01T12:00:00+02:00',
          licenseType: 'floating',
          maxConcurrentSessions: 4,
          heartbeatInterval: 60,
          sessionLeaseDuration: 300,
          allowedHosts: ['host-1', 'host-2'],
          metadata: { features: { export: true, seats: 3, edition: 'café' }, is_trial: true },
          customerCanSelfReset: true,
        },
      }),
      expect: issued,
      wrote: { licenses: 1 },
      afterwards: shows({
        maxActivations: 3,
        expirationDate: '2027-06-01T10:00:00.000Z',
        licenseType: 'floating',
        maxConcurrentSessions: 4,
        heartbeatInterval: 60,
        sessionLeaseDuration: 300,
        allowedHosts: ['host-1', 'host-2'],
        metadata: { features: { export: true, seats: 3, edition: 'café' }, is_trial: true },
        customerCanSelfReset: true,
      }),
    },
    {
      name: 'keeps free metadata at its bounds: 50 entries, 64 characters of name, 500 of text',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId, metadata: fullMetadata } }),
      expect: issued,
      wrote: { licenses: 1 },
      afterwards: shows({ metadata: { ...fullMetadata, features: {}, is_trial: false } }),
    },
    ...Object.entries({
      'more than 50 entries': { ...fullMetadata, one: 1 },
      'a name of 65 characters': { ['n'.repeat(65)]: 1 },
      'an empty name': { '': 1 },
      'a name with a control character': { 'a\u0007b': 1 },
      'a text of 501 characters': { note: 'x'.repeat(501) },
      'a text with a control character': { note: 'a\u001b[0m' },
      'more than 8 192 bytes': Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`n${i}`, 'é'.repeat(250)])),
      'a value that is null': { note: null },
      'a value that is an object': { note: {} },
      'a value that is a list': { note: [1] },
    }).map(([name, metadata]) => ({
      name: `refuses metadata with ${name}`,
      as: 'admin' as const,
      request: ({ productId }: Subject) => ({ body: { productId, metadata } }),
      expect: missing,
    })),
    ...Object.entries({
      'sessions on a node-locked key': { maxConcurrentSessions: 5 },
      'sessions on a key that is said to be node-locked': { licenseType: 'node-locked', maxConcurrentSessions: 5 },
      'a heartbeat above the default lease': { licenseType: 'floating', heartbeatInterval: 901 },
      'a heartbeat above the lease': { licenseType: 'floating', heartbeatInterval: 601, sessionLeaseDuration: 600 },
    }).map(([name, fields]) => ({
      name: `refuses ${name}`,
      as: 'admin' as const,
      request: ({ productId }: Subject) => ({ body: { productId, ...fields } }),
      expect: missing,
    })),
    ...Object.entries({
      'a heartbeat as long as the default lease': { heartbeatInterval: 900 },
      'a lease as long as the default heartbeat': { sessionLeaseDuration: 300 },
      'no limit of sessions on a node-locked key': { maxConcurrentSessions: null },
    }).map(([name, fields]) => ({
      name: `accepts ${name}`,
      as: 'admin' as const,
      request: ({ productId }: Subject) => ({ body: { productId, ...fields } }),
      expect: issued,
      wrote: { licenses: 1 },
    })),
    {
      name: 'keeps a reference, and terms that begin with the first use',
      as: 'admin',
      request: ({ productId }) => ({
        body: { productId, reference: 'order-1042', expiresAfter: 'P1Y', gracePeriod: 'P2W' },
      }),
      expect: issued,
      wrote: { licenses: 1 },
      afterwards: shows({
        reference: 'order-1042',
        expirationDate: null,
        expiresAfter: 'P1Y',
        gracePeriod: 'P2W',
        graceUntil: null,
      }),
    },
    ...Object.entries({
      'expiresAfter together with expiryDate': { expiresAfter: 'P1Y', expiryDate: '2027-01-01T00:00:00Z' },
      'expiresAfter together with never': { expiresAfter: 'P1Y', expiryDate: null },
      'expiresAfter of no length': { expiresAfter: 'P0D' },
      'a gracePeriod of no length': { gracePeriod: 'PT0S' },
      'a gracePeriod that is no duration': { gracePeriod: '14d' },
      'an empty reference': { reference: '' },
      'a blank reference': { reference: '  ' },
      'a reference of 129 characters': { reference: 'r'.repeat(129) },
    }).map(([name, fields]) => ({
      name: `refuses ${name}`,
      as: 'admin' as const,
      request: ({ productId }: Subject) => ({ body: { productId, ...fields } }),
      expect: missing,
    })),
    {
      name: 'refuses a reference that a key has, and names it',
      given: async (world, { productId }) => {
        await world.key({ productId, reference: 'order-1042' });
      },
      as: 'admin',
      request: ({ otherProductId }) => ({ body: { productId: otherProductId, reference: 'order-1042' } }),
      expect: { status: 409, code: 10, message: () => 'A key with reference order-1042 already exists' },
    },
    {
      name: 'expires one calendar month after creation: 31 January becomes 28 February',
      at: '2027-01-31T23:59:59.999Z',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId } }),
      expect: issued,
      wrote: { licenses: 1 },
      afterwards: shows({ expirationDate: '2027-02-28T23:59:59.999Z' }),
    },
    {
      name: 'never expires when expiryDate is null',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId, expiryDate: null } }),
      expect: issued,
      wrote: { licenses: 1 },
      afterwards: shows({ expirationDate: null }),
    },
    {
      name: 'is without limit when usesPerKey is null',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId, usesPerKey: null } }),
      expect: issued,
      wrote: { licenses: 1 },
      afterwards: shows({ maxActivations: null }),
    },
    {
      name: 'takes the largest usesPerKey',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId, usesPerKey: '999999999' } }),
      expect: issued,
      wrote: { licenses: 1 },
      afterwards: shows({ maxActivations: 999_999_999 }),
    },
    {
      name: 'assigns the key to a customer that exists',
      as: 'admin',
      request: ({ productId, customerId }) => ({ body: { productId, customerId, newCustomer: null } }),
      expect: issued,
      wrote: { licenses: 1 },
      afterwards: async (world, { productId, customerId }, { body }) => {
        expect(await customerOf(world, productId, body.key)).toEqual({
          id: customerId,
          name: 'Zoë',
          email: 'zoe@example.com',
          active: true,
        });
      },
    },
    {
      name: 'assigns the key to a customer it creates',
      as: 'admin',
      request: ({ productId }) => ({
        body: { productId, customerId: null, newCustomer: { name: 'Acme', email: 'Ops@acme.example' } },
      }),
      expect: issued,
      wrote: { licenses: 1, customers: 1 },
      afterwards: async (world, { productId }, { body }) => {
        expect(await customerOf(world, productId, body.key)).toEqual({
          id: expect.stringMatching(/^cus_[0-9a-z]{26}$/),
          name: 'Acme',
          email: 'Ops@acme.example',
          active: true,
        });
      },
    },
    {
      name: 'creates a customer without an e-mail address',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId, newCustomer: { name: 'Acme' } } }),
      expect: issued,
      wrote: { licenses: 1, customers: 1 },
    },
    {
      name: 'shows the key in full to a token that may issue keys and no more',
      as: { scopes: ['license:write'] },
      request: ({ productId }) => ({ body: { productId } }),
      expect: issued,
      wrote: { licenses: 1 },
    },
    {
      name: 'ignores a field it does not know',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId, colour: 'blue', account_id: 'acc_1' } }),
      expect: issued,
      wrote: { licenses: 1 },
    },
    {
      name: 'refuses an expiryDate of an invalid format',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId, expiryDate: 'tomorrow' } }),
      expect: missing,
    },
    {
      name: 'refuses customerId together with newCustomer',
      as: 'admin',
      request: ({ productId, customerId }) => ({ body: { productId, customerId, newCustomer: { name: 'Acme' } } }),
      expect: missing,
    },
    {
      name: 'refuses a product that is not there',
      as: 'admin',
      request: { body: { productId: 'prod_00000000000000000000000000' } },
      expect: unavailable,
    },
    {
      name: 'refuses a product that is not active',
      given: async (world, { productId }) => {
        await world.call('admin', 'PUT', `/product/by-id?productId=${productId}`, { active: false });
      },
      as: 'admin',
      request: ({ productId }) => ({ body: { productId } }),
      expect: unavailable,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ kind: 'admin', productIds: [otherProductId] }),
      request: ({ productId }) => ({ body: { productId } }),
      expect: unavailable,
    },
    {
      name: 'issues a key for a product that the token may touch',
      as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
      request: ({ productId }) => ({ body: { productId } }),
      expect: issued,
      wrote: { licenses: 1 },
    },
    {
      name: 'refuses a customer that is not there, and names it',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId, customerId: 'cus_absent' } }),
      expect: { status: 404, code: 2, message: () => 'Customer cus_absent not found' },
    },
    {
      name: 'refuses a version that is not there',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId, versionId: 'ver_absent' } }),
      expect: { status: 404, code: 1, message: 'Version not found' },
    },
    {
      name: 'issues a key for a version of the product',
      given: async (world, { productId }) => {
        await world.call('admin', 'POST', '/product/version', { productId, version: '2.1' });
        await world.sql("update product_versions set id = 'ver_1'");
      },
      as: 'admin',
      request: ({ productId }) => ({ body: { productId, versionId: 'ver_1' } }),
      expect: issued,
      wrote: { licenses: 1 },
      afterwards: shows({ versionId: 'ver_1', version: expect.objectContaining({ id: 'ver_1', version: '2.1' }) }),
    },
    {
      name: 'refuses an e-mail address that a customer has in another case, and names it',
      as: 'admin',
      request: ({ productId }) => ({ body: { productId, newCustomer: { name: 'Zoe', email: 'ZOE@Example.com' } } }),
      expect: { status: 409, code: 2, message: () => 'A customer with email ZOE@Example.com already exists' },
    },
    {
      name: 'refuses a token that has issued all the keys it may issue',
      given: async (world, { productId }) => {
        const answer = await world.call({ kind: 'admin', maxIssues: 1 }, 'POST', '/create-key', { productId });
        expect(answer.status).toBe(200);
      },
      as: { kind: 'admin', maxIssues: 1 },
      request: ({ productId }) => ({ body: { productId } }),
      expect: { status: 403, code: 10, message: 'This token has issued all the keys it may issue' },
    },
    {
      name: 'does not count a refused key against what a token may issue',
      given: async (world, { productId }) => {
        const refused = { productId, customerId: 'cus_absent' };
        const answer = await world.call({ kind: 'admin', maxIssues: 1 }, 'POST', '/create-key', refused);
        expect(answer.status).toBe(404);
      },
      as: { kind: 'admin', maxIssues: 1 },
      request: ({ productId }) => ({ body: { productId } }),
      expect: issued,
      wrote: { licenses: 1 },
    },
  ],
);
