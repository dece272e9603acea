import { expect } from 'vitest';
import { type Afterwards, refuses, row, scenarios } from '../support/scenario.ts';
import { addVersion, shownLicense } from '../support/shop.ts';
import type { Address, World } from '../support/world.ts';

interface Subject {
  readonly productId: string;
  readonly otherProductId: string;
  readonly customerId: string;
  readonly planId?: string;
}

/** Makes a plan Pro of the product. */
const planOf =
  (terms: object) =>
  async (world: World, { productId }: Subject) => {
    const { body } = await world.call('admin', 'POST', '/plan', { productId, name: 'Pro', ...terms });
    return { planId: String(body.data.id) };
  };

const KEY = /^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}$/;
const issued = { body: { code: 0, key: expect.stringMatching(KEY) } };

/** The fields that are shown as they are given. */
const everyField = {
  ...{ licenseType: 'floating', maxConcurrentSessions: 4, heartbeatInterval: 60, sessionLeaseDuration: 300 },
  allowedHosts: ['host-1', 'host-2'],
  metadata: { features: { export: true, seats: 3, edition: 'café' }, is_trial: true },
  customerCanSelfReset: false,
};

const ofFirstUse = { reference: 'order-1042', expiresAfter: 'P1Y', gracePeriod: 'P2W' };

/** What the licence looks like that the answer's key names. */
const shows =
  (fields: Readonly<Record<string, unknown>>): Afterwards<Subject> =>
  async (world, { productId }, { body }) => {
    expect(await world.license({ productId, licenseKey: body.key })).toMatchObject(fields);
  };

const expectCustomer = async (world: World, address: Address, customer: object) => {
  const { body } = await world.call('admin', 'GET', `/key?${new URLSearchParams({ ...address })}`);
  expect(body.data.customer).toEqual({ id: expect.stringMatching(/^cus_[0-9a-z]{26}$/), active: true, ...customer });
};

scenarios<Subject>(
  'keys.create',
  {
    given: async (world) => ({
      productId: (await world.product()).id,
      otherProductId: (await world.product('Viewer')).id,
      customerId: (await world.customer({ name: 'Zoë', email: 'zoe@example.com' })).id,
    }),
    body: ({ productId }) => ({ productId }),
    wrote: { licenses: 1 },
  },
  [
    row('issues a key without limits, whose every other field has its default', issued, {
      afterwards: async (world, { productId }, { body }) => {
        const license = await world.license({ productId, licenseKey: body.key });
        expect(license).toEqual(shownLicense({ key: body.key, productId, devices: [] }));
      },
    }),
    row('keeps every field that is given', issued, {
      send: { ...everyField, usesPerKey: '3', expiryDate: '2027-06-01T12:00:00+02:00' },
      afterwards: shows({ ...everyField, maxActivations: 3, expirationDate: '2027-06-01T10:00:00.000Z' }),
    }),
    row('keeps a reference, and terms that begin with the first use', issued, {
      send: ofFirstUse,
      afterwards: shows({ ...ofFirstUse, expirationDate: null, graceUntil: null }),
    }),
    ...refuses('invalidParams', {
      'expiresAfter together with expiryDate': { expiresAfter: 'P1Y', expiryDate: '2027-01-01T00:00:00Z' },
      'expiresAfter together with never': { expiresAfter: 'P1Y', expiryDate: null },
    }),
    row('compares references exactly, and by account', issued, {
      send: { reference: 'order-1042' },
      given: async (world, { productId }) => {
        await world.key({ productId, reference: 'Order-1042' });
        const product = await world.call('other admin', 'POST', '/product', { name: 'Theirs' });
        const theirs = { productId: product.body.data.id, reference: 'order-1042' };
        expect((await world.call('other admin', 'POST', '/create-key', theirs)).status).toBe(200);
      },
    }),
    row(
      'refuses a reference that a key has, and names it',
      ['referenceTaken', 'A key with reference order-1042 already exists'],
      {
        send: ({ otherProductId }) => ({ productId: otherProductId, reference: 'order-1042' }),
        given: async (world, { productId }) => void (await world.key({ productId, reference: 'order-1042' })),
      },
    ),
    row('assigns the key to a customer it creates', issued, {
      send: { customerId: null, newCustomer: { name: 'Acme', email: 'Ops@acme.example' } },
      wrote: { licenses: 1, customers: 1 },
      afterwards: (world, { productId }, { body }) =>
        expectCustomer(world, { productId, licenseKey: body.key }, { name: 'Acme', email: 'Ops@acme.example' }),
    }),
    row('refuses a product that is not active', 'productUnavailable', {
      given: (world) => world.sql('update products set active = 0'),
    }),
    row('refuses a customer that is not there, and names it', ['customerNotFound', 'Customer cus_absent not found'], {
      send: { customerId: 'cus_absent' },
    }),
    row('refuses a version that is not there', 'versionNotFound', { send: { versionId: 'ver_absent' } }),
    row('takes from a plan what the request does not say', issued, {
      send: ({ planId }) => ({ planId, gracePeriod: 'P1D', metadata: { features: { seats: 9 }, note: 'n' } }),
      given: planOf({ duration: 'P1Y', gracePeriod: 'P2W', maxActivations: 3, features: { sso: true, seats: 5 } }),
      afterwards: shows({
        ...{ maxActivations: 3, expirationDate: '2027-11-21T23:59:59.000Z', gracePeriod: 'P1D' },
        ...{ plan: { id: expect.stringMatching(/^plan_/), name: 'Pro' } },
        metadata: { features: { sso: true, seats: 9 }, is_trial: false, note: 'n' },
      }),
    }),
    row('begins the term of a plan with the first use where it says so', issued, {
      send: ({ planId }) => ({ planId }),
      given: planOf({ duration: 'P1Y', fromFirstUse: true, isTrial: true }),
      afterwards: shows({
        ...{ expirationDate: null, expiresAfter: 'P1Y', maxActivations: null },
        metadata: { features: {}, is_trial: true },
      }),
    }),
    row('lets the request say another end, and no limit, than its plan', issued, {
      send: ({ planId }) => ({ planId, expiryDate: null, usesPerKey: null, maxConcurrentSessions: 9 }),
      given: planOf({ duration: 'P1Y', maxActivations: 3, licenseType: 'floating', maxConcurrentSessions: 2 }),
      afterwards: shows({ expirationDate: null, maxActivations: null, maxConcurrentSessions: 9 }),
    }),
    row('refuses what its plan contradicts', 'invalidParams', {
      send: ({ planId }) => ({ planId, maxConcurrentSessions: 9 }),
      given: planOf({}),
    }),
    ...Object.entries({
      'that is not there': `update plans set id = 'plan_other'`,
      'of another product': `update plans set product_id = (select id from products where name = 'Viewer')`,
      'that is not active': 'update plans set active = 0',
    }).map(([which, text]) =>
      row<Subject>(`refuses a plan ${which}`, 'planNotFound', {
        send: ({ planId }) => ({ planId }),
        given: async (world, subject) => {
          const made = await planOf({})(world, subject);
          await world.sql(text);
          return made;
        },
      }),
    ),
    row('issues a key for a version of the product', issued, {
      send: { versionId: 'ver_1' },
      given: async (world, { productId }) => void (await addVersion(world, productId)),
      afterwards: shows({ versionId: 'ver_1', version: expect.objectContaining({ id: 'ver_1', version: '1.0' }) }),
    }),
    row(
      'refuses an e-mail address that is taken',
      ['emailTaken', 'A customer with email ZOE@Example.com already exists'],
      {
        send: { newCustomer: { name: 'Zoe', email: 'ZOE@Example.com' } },
      },
    ),
    row('refuses a token that has issued all the keys it may issue', 'issueLimit', {
      given: async (world, { productId }) => {
        const answer = await world.call({ kind: 'admin', maxIssues: 1 }, 'POST', '/create-key', { productId });
        expect(answer.status).toBe(200);
      },
      as: { kind: 'admin', maxIssues: 1 },
    }),
  ],
);
