import { expect } from 'vitest';
import { scenarios } from '../support/scenario.ts';
import type { Address, World } from '../support/world.ts';

interface Subject {
  /** A floating licence of two seats, whose sessions last 15 minutes and report themselves every 5. */
  readonly address: Address;
  readonly otherProductId: string;
}

const notFound = { status: 404, code: 1, message: 'License not found' };

const leased = (fields: {
  readonly currentSessions: number;
  readonly maxSessions?: number | null;
  readonly expiresAt?: string;
  readonly heartbeatInterval?: number;
}) => ({
  status: 200,
  body: {
    code: 0,
    message: 'Session checked out',
    sessionId: expect.stringMatching(/^ses_[0-9a-z]{26}$/),
    sessionSecret: expect.stringMatching(/^[\w-]{43}$/),
    nextNonce: expect.stringMatching(/^[\w-]{22}$/),
    expiresAt: '2026-11-21T10:15:00.000Z',
    heartbeatInterval: 300,
    maxSessions: 2,
    ...fields,
  },
});

/** A floating key of the same product, with other fields. */
const another =
  (fields: Readonly<Record<string, unknown>>) =>
  async (world: World, { address: { productId } }: Subject) => ({
    address: { productId, licenseKey: await world.key({ productId, licenseType: 'floating', ...fields }) },
  });

async function checkOut(world: World, address: Address): Promise<void> {
  expect((await world.call('client', 'POST', '/key/checkout', address)).status).toBe(200);
}

async function checkOutTwice(world: World, { address }: Subject): Promise<void> {
  await checkOut(world, address);
  await checkOut(world, address);
}

scenarios<Subject>(
  'keys.checkout',
  async (world) => {
    const { id: productId } = await world.product();
    const { id: customerId } = await world.customer();
    const licenseKey = await world.key({
      productId,
      customerId,
      licenseType: 'floating',
      maxConcurrentSessions: 2,
      usesPerKey: '1',
    });
    return { address: { productId, licenseKey }, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'leases a seat',
      as: 'admin',
      request: ({ address }) => ({ body: address }),
      expect: leased({ currentSessions: 1 }),
      wrote: { sessions: 1 },
    },
    {
      name: 'leases a seat to a token that may activate and no more, for a named host and user',
      as: 'client',
      request: ({ address }) => ({
        body: { ...address, hostId: 'host-1', deviceTag: 'build agent', userIdentifier: 'zoe@example.com' },
      }),
      expect: leased({ currentSessions: 1 }),
      wrote: { sessions: 1 },
    },
    {
      name: 'takes no activation slot',
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: leased({ currentSessions: 1 }),
      wrote: { sessions: 1 },
      afterwards: async (world, { address }) => {
        expect(await world.license(address)).toMatchObject({ activations: 0, activated: false, devices: [] });
      },
    },
    {
      name: 'leases one host as many seats as it asks for',
      given: (world, { address }) => checkOut(world, address),
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: leased({ currentSessions: 2 }),
      wrote: { sessions: 1 },
    },
    {
      name: 'gives every session a secret of its own',
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: leased({ currentSessions: 1 }),
      wrote: { sessions: 1 },
      afterwards: async (world, { address }, { body: first }) => {
        const { body: second } = await world.call('client', 'POST', '/key/checkout', address);
        for (const member of ['sessionId', 'sessionSecret', 'nextNonce']) {
          expect(second[member]).not.toBe(first[member]);
        }
      },
    },
    {
      name: 'keeps the rhythm that the licence sets',
      given: another({ sessionLeaseDuration: 300, heartbeatInterval: 60, maxConcurrentSessions: 7 }),
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: leased({
        currentSessions: 1,
        maxSessions: 7,
        expiresAt: '2026-11-21T10:05:00.000Z',
        heartbeatInterval: 60,
      }),
      wrote: { sessions: 1 },
    },
    {
      name: 'leases any number of seats of a licence without limit',
      given: async (world, subject) => {
        const unlimited = await another({})(world, subject);
        for (let i = 0; i < 5; i += 1) await checkOut(world, unlimited.address);
        return unlimited;
      },
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: leased({ currentSessions: 6, maxSessions: null }),
      wrote: { sessions: 1 },
    },
    {
      name: 'does not count the sessions of other licences',
      given: async (world, subject) => {
        await checkOutTwice(world, subject);
        return another({ maxConcurrentSessions: 2 })(world, subject);
      },
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: leased({ currentSessions: 1 }),
      wrote: { sessions: 1 },
    },
    {
      name: 'leases a seat again from the instant its lease has run out',
      given: checkOutTwice,
      at: '2026-11-21T10:15:00.000Z',
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: leased({ currentSessions: 1, expiresAt: '2026-11-21T10:30:00.000Z' }),
      wrote: { sessions: -1 },
    },
    {
      name: 'refuses when all seats are taken',
      given: checkOutTwice,
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: { status: 403, code: 9, message: 'Session limit reached' },
    },
    {
      name: 'refuses up to the last millisecond of the leases',
      given: checkOutTwice,
      at: '2026-11-21T10:14:59.999Z',
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: { status: 403, code: 9, message: 'Session limit reached' },
    },
    {
      name: 'leases a seat to a host on the list of allowed ones',
      given: another({ allowedHosts: ['host-1'], maxConcurrentSessions: 2 }),
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: leased({ currentSessions: 1 }),
      wrote: { sessions: 1 },
    },
    {
      name: 'refuses a host that is not on the list of allowed ones',
      given: another({ allowedHosts: ['host-1'] }),
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-9' } }),
      expect: { status: 403, code: 4, message: 'Device not allowed' },
    },
    {
      name: 'refuses a caller that names no host when there is a list of allowed ones',
      given: another({ allowedHosts: ['host-1'] }),
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: { status: 403, code: 4, message: 'Device not allowed' },
    },
    {
      name: 'refuses a licence from the instant of its expiry on',
      at: '2026-12-21T10:00:00.000Z',
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: { status: 403, code: 5, message: 'License expired' },
    },
    {
      name: 'refuses a licence that the vendor has disabled',
      given: (world) => world.sql('update licenses set vendor_disabled = 1'),
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: { status: 403, code: 6, message: 'License disabled' },
    },
    {
      name: 'refuses the licence of a customer that is not active',
      given: (world) => world.sql('update customers set active = 0'),
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: { status: 403, code: 7, message: 'Customer inactive' },
    },
    {
      name: 'refuses a node-locked licence',
      given: another({ licenseType: 'node-locked' }),
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: { status: 403, code: 8, message: 'Operation not available for this license type' },
    },
    {
      name: 'refuses a key that is not there',
      as: 'client',
      request: ({ address }) => ({ body: { ...address, licenseKey: '00000-00000-00000-00000-00000' } }),
      expect: notFound,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ kind: 'client', productIds: [otherProductId] }),
      request: ({ address }) => ({ body: address }),
      expect: notFound,
    },
  ],
);
