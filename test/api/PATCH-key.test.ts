import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { type Afterwards, scenarios } from '../support/scenario.ts';
import { addVersion } from '../support/versions.ts';
import type { Address, World } from '../support/world.ts';

interface Subject {
  /** A key of three slots, of which host-1 and host-2 hold one each; its customer is Zoë. */
  readonly address: Address;
  readonly customerId: string;
  readonly otherProductId: string;
}

const LATER = '2026-11-21T12:00:00.000Z';
const missing = { status: 400, code: 1, message: 'Missing required params' };
const notFound = { status: 404, code: 1, message: 'License not found' };

/** The licence with these fields, changed at `LATER`. */
const changed = (fields: Readonly<Record<string, unknown>>) => ({
  status: 200,
  body: ({ address }: Subject) => ({
    data: expect.objectContaining({ key: address.licenseKey, activations: 2, updatedAt: LATER, ...fields }),
    code: 0,
  }),
});

/** The licence is then as the answer said. */
const asAnswered: Afterwards<Subject> = async (world, { address }, { body }) => {
  expect(await world.license(address)).toEqual(body.data);
};

/** A key of the same product, with other fields. */
const another =
  (fields: Readonly<Record<string, unknown>>) =>
  async (world: World, { address: { productId } }: Subject) => ({
    address: { productId, licenseKey: await world.key({ productId, ...fields }) },
  });

/** A floating key with two sessions. */
const floating = async (world: World, subject: Subject) => {
  const { address } = await another({ licenseType: 'floating', maxConcurrentSessions: 5 })(world, subject);
  for (const _ of [1, 2]) expect((await world.call('admin', 'POST', '/key/checkout', address)).status).toBe(200);
  return { address };
};

scenarios<Subject>(
  'keys.update',
  async (world) => {
    const { id: productId } = await world.product();
    const { id: customerId } = await world.customer({ name: 'Zoë', email: 'zoe@example.com' });
    const metadata = { features: { export: true, seats: 3 }, invoice: 'A-1042', plan: 'pro' };
    const address = { productId, licenseKey: await world.key({ productId, customerId, usesPerKey: '3', metadata }) };
    await world.activate(address, 'host-1', 'host-2');
    await addVersion(world, productId);
    return { address, customerId, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'changes every field that is given, and says so in the record without what the vendor wrote',
      at: LATER,
      as: 'admin',
      request: ({ address }) => ({
        body: {
          ...address,
          maxActivations: 5,
          expirationDate: '2028-01-01T00:00:00+01:00',
          gracePeriod: 'P14D',
          customerId: null,
          metadata: { features: { sso: true }, is_trial: true, note: 'call ada@example.com' },
          allowedHosts: ['host-1', 'host-9'],
          licenseType: 'floating',
          maxConcurrentSessions: 4,
          heartbeatInterval: 60,
          sessionLeaseDuration: 600,
          customerCanSelfReset: true,
          versionId: 'ver_1',
        },
      }),
      expect: changed({
        maxActivations: 5,
        expirationDate: '2027-12-31T23:00:00.000Z',
        gracePeriod: 'P14D',
        graceUntil: '2028-01-14T23:00:00.000Z',
        metadata: {
          features: { export: true, seats: 3, sso: true },
          is_trial: true,
          invoice: 'A-1042',
          plan: 'pro',
          note: 'call ada@example.com',
        },
        allowedHosts: ['host-1', 'host-9'],
        licenseType: 'floating',
        maxConcurrentSessions: 4,
        heartbeatInterval: 60,
        sessionLeaseDuration: 600,
        customerCanSelfReset: true,
        versionId: 'ver_1',
      }),
      wrote: {},
      afterwards: async (world, subject, answer) => {
        await asAnswered(world, subject, answer);
        const { address, customerId } = subject;
        const recorded = await recordedOf(world, 'keys.update');
        expect(recorded.events).toEqual([
          {
            type: 'license.updated',
            resource: { type: 'license', id: answer.body.data.id },
            data: {
              productId: address.productId,
              customerId: null,
              key: expect.stringMatching(/^\*/),
              changed: [
                'maxActivations',
                'expirationDate',
                'gracePeriod',
                'customerId',
                'allowedHosts',
                'licenseType',
                'maxConcurrentSessions',
                'heartbeatInterval',
                'sessionLeaseDuration',
                'customerCanSelfReset',
                'versionId',
                'metadata.features',
                'metadata',
                'metadata.is_trial',
              ],
              before: {
                customerId,
                maxActivations: 3,
                expirationDate: '2026-12-21T10:00:00.000Z',
                'metadata.is_trial': false,
                licenseType: 'node-locked',
                maxConcurrentSessions: null,
                heartbeatInterval: 300,
                sessionLeaseDuration: 900,
                customerCanSelfReset: false,
                versionId: null,
              },
              after: {
                customerId: null,
                maxActivations: 5,
                expirationDate: '2027-12-31T23:00:00.000Z',
                'metadata.is_trial': true,
                licenseType: 'floating',
                maxConcurrentSessions: 4,
                heartbeatInterval: 60,
                sessionLeaseDuration: 600,
                customerCanSelfReset: true,
                versionId: 'ver_1',
              },
            },
          },
        ]);
      },
    },
    {
      name: 'leaves everything else as it is',
      at: LATER,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, versionId: 'ver_1' } }),
      expect: changed({
        maxActivations: 3,
        expirationDate: '2026-12-21T10:00:00.000Z',
        metadata: { features: { export: true, seats: 3 }, is_trial: false, invoice: 'A-1042', plan: 'pro' },
        versionId: 'ver_1',
        createdAt: '2026-11-21T10:00:00.000Z',
      }),
      wrote: {},
      afterwards: asAnswered,
    },
    {
      name: 'clears what null is given for',
      given: another({
        usesPerKey: '3',
        expiresAfter: 'P1Y',
        gracePeriod: 'P1D',
        allowedHosts: ['host-1'],
        licenseType: 'floating',
        maxConcurrentSessions: 2,
      }),
      at: LATER,
      as: 'admin',
      request: ({ address }) => ({
        body: {
          ...address,
          maxActivations: null,
          expirationDate: null,
          gracePeriod: null,
          allowedHosts: null,
          maxConcurrentSessions: null,
        },
      }),
      expect: changed({
        activations: 0,
        maxActivations: null,
        expirationDate: null,
        expiresAfter: null,
        gracePeriod: null,
        allowedHosts: null,
        maxConcurrentSessions: null,
      }),
      wrote: {},
      afterwards: asAnswered,
    },
    {
      name: 'merges metadata and its features by name, and null removes an entry',
      at: LATER,
      as: 'admin',
      request: ({ address }) => ({
        body: {
          ...address,
          metadata: { features: { seats: null, sso: true, gone: null }, invoice: null, plan: 'team' },
        },
      }),
      expect: changed({ metadata: { features: { export: true, sso: true }, is_trial: false, plan: 'team' } }),
      wrote: {},
      afterwards: asAnswered,
    },
    {
      name: 'gives it to a customer that exists',
      given: async (world) => ({ customerId: (await world.customer({ name: 'Acme' })).id }),
      at: LATER,
      as: 'admin',
      request: ({ address, customerId }) => ({ body: { ...address, customerId } }),
      expect: changed({}),
      wrote: {},
      afterwards: async (world, { address, customerId }) => {
        const query = new URLSearchParams({ ...address });
        expect((await world.call('admin', 'GET', `/key?${query}`)).body.data.customer.id).toBe(customerId);
      },
    },
    {
      name: 'takes away the limit of sessions with the sessions',
      given: another({ licenseType: 'floating', maxConcurrentSessions: 2 }),
      at: LATER,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, licenseType: 'node-locked' } }),
      expect: changed({ activations: 0, licenseType: 'node-locked', maxConcurrentSessions: null }),
      wrote: {},
      afterwards: asAnswered,
    },
    {
      name: 'accepts a limit that is just what is in use',
      at: LATER,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, maxActivations: 2 } }),
      expect: changed({ maxActivations: 2 }),
      wrote: {},
    },
    {
      name: 'accepts a lower limit with force: devices stay, and no new one comes',
      at: LATER,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, maxActivations: 1, force: true } }),
      expect: changed({ maxActivations: 1 }),
      wrote: {},
      afterwards: async (world, { address }) => {
        const sign = (hostId: string) => world.call('admin', 'POST', '/key/sign', { ...address, hostId });
        expect((await sign('host-1')).status).toBe(200);
        expect((await sign('host-3')).body.code).toBe(3);
      },
    },
    {
      name: 'accepts an unlimited number in place of a limit that was forced below what is in use',
      given: async (world, { address }) => {
        await world.call('admin', 'PATCH', '/key', { ...address, maxActivations: 1, force: true });
      },
      at: LATER,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, maxActivations: null } }),
      expect: changed({ maxActivations: null }),
      wrote: {},
    },
    {
      name: 'writes nothing when everything is so already, and no event',
      at: LATER,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, maxActivations: 3, metadata: { plan: 'pro' } } }),
      expect: changed({ updatedAt: '2026-11-21T10:00:00.000Z' }),
      afterwards: async (world, _, { body }) => {
        const { resource, events } = await recordedOf(world, 'keys.update');
        expect({ resource, events }).toEqual({ resource: { type: 'license', id: body.data.id }, events: [] });
      },
    },
    {
      name: 'changes a licence whose updatedAt is as the caller says',
      at: LATER,
      as: 'admin',
      request: ({ address }) => ({
        body: { ...address, maxActivations: 4, ifUpdatedAt: '2026-11-21T11:00:00+01:00' },
      }),
      expect: changed({ maxActivations: 4 }),
      wrote: {},
    },
    {
      name: 'sets an updatedAt of its own for a change in the same millisecond',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, maxActivations: 4 } }),
      expect: changed({ updatedAt: '2026-11-21T10:00:00.001Z' }),
      wrote: {},
      afterwards: async (world, { address }) => {
        await world.activate(address, 'host-3');
        expect(await world.license(address)).toMatchObject({ activations: 3, updatedAt: '2026-11-21T10:00:00.001Z' });
      },
    },
    {
      name: 'masks key and addresses for a token that may not reveal them',
      at: LATER,
      as: { scopes: ['license:write'] },
      request: ({ address }) => ({ body: { ...address, maxActivations: 4 } }),
      expect: {
        status: 200,
        body: {
          data: expect.objectContaining({
            key: expect.stringMatching(/^\*{5}-/),
            // Of one millisecond, and so in any order.
            devices: expect.arrayContaining([
              expect.objectContaining({ hostId: 'host-1', ipAddress: '203.0.*.*' }),
              expect.objectContaining({ hostId: 'host-2', ipAddress: '203.0.*.*' }),
            ]),
          }),
          code: 0,
        },
      },
      absent: ({ address }) => [address.licenseKey, '203.0.113'],
      wrote: {},
    },
    {
      name: 'refuses fewer slots than devices hold, and says how many',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, maxActivations: 1, force: false } }),
      expect: { status: 409, code: 6, message: () => 'License is in use: 2 devices' },
    },
    {
      name: 'refuses fewer sessions than are leased',
      given: floating,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, maxConcurrentSessions: 1 } }),
      expect: { status: 409, code: 6, message: () => 'License is in use: 2 sessions' },
    },
    {
      name: 'refuses to make a floating key node-locked while sessions are leased',
      given: floating,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, licenseType: 'node-locked' } }),
      expect: { status: 409, code: 6, message: () => 'License is in use: 2 sessions' },
    },
    {
      name: 'accepts fewer sessions once the leases have ended',
      given: floating,
      at: LATER,
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, maxConcurrentSessions: 1 } }),
      expect: changed({ activations: 0, maxConcurrentSessions: 1 }),
      wrote: {},
    },
    {
      name: 'refuses a licence that was changed meanwhile, and says when',
      given: async (world, { address }) => {
        world.setNow('2026-11-21T11:00:00.000Z');
        await world.call('admin', 'PATCH', '/key', { ...address, versionId: 'ver_1' });
      },
      as: 'admin',
      request: ({ address }) => ({
        body: { ...address, maxActivations: 4, ifUpdatedAt: '2026-11-21T10:00:00.000Z' },
      }),
      expect: { status: 409, code: 5, message: () => 'It was changed meanwhile, at 2026-11-21T11:00:00.000Z' },
    },
    ...Object.entries({
      'nothing to change': {},
      'nothing but conditions': { force: true, ifUpdatedAt: '2026-11-21T10:00:00.000Z' },
      'no slots at all': { maxActivations: 0 },
      'a type that is null': { licenseType: null },
      'a limit of sessions on a node-locked key': { maxConcurrentSessions: 3 },
      'a limit of sessions with node-locked': { licenseType: 'node-locked', maxConcurrentSessions: 3 },
      'a heartbeat above the lease that is there': { heartbeatInterval: 901 },
      'a lease below the heartbeat that is there': { heartbeatInterval: 700, sessionLeaseDuration: 600 },
      'an empty list of hosts': { allowedHosts: [] },
      'a grace period of no length': { gracePeriod: 'P0D' },
      'metadata that is a text': { metadata: 'x' },
      'an entry of metadata that is a list': { metadata: { note: [1] } },
      'metadata that would have more than 50 entries': {
        metadata: Object.fromEntries(Array.from({ length: 49 }, (_, i) => [`n${i}`, i])),
      },
      'metadata that would have more than 8 192 bytes': {
        metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`n${i}`, 'é'.repeat(250)])),
      },
      'more than 40 features': {
        metadata: { features: Object.fromEntries(Array.from({ length: 39 }, (_, i) => [`f${i}`, true])) },
      },
    }).map(([name, fields]) => ({
      name: `refuses ${name}`,
      as: 'admin' as const,
      request: ({ address }: Subject) => ({ body: { ...address, ...fields } }),
      expect: missing,
    })),
    {
      name: 'refuses a version that is not there',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, versionId: 'ver_absent' } }),
      expect: { status: 404, code: 1, message: 'Version not found' },
    },
    {
      name: 'refuses a version of another product',
      given: (world, { otherProductId }) => world.sql(`update product_versions set product_id = '${otherProductId}'`),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, versionId: 'ver_1' } }),
      expect: { status: 404, code: 1, message: 'Version not found' },
    },
    {
      name: 'refuses a version that is not active',
      given: (world) => world.sql('update product_versions set active = 0'),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, versionId: 'ver_1' } }),
      expect: { status: 404, code: 1, message: 'Version not found' },
    },
    {
      name: 'refuses a customer that is not there, and names it',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, customerId: 'cus_absent' } }),
      expect: { status: 404, code: 2, message: () => 'Customer cus_absent not found' },
    },
    {
      name: 'refuses a key of another product',
      as: 'admin',
      request: ({ address, otherProductId }) => ({
        body: { ...address, productId: otherProductId, maxActivations: 4 },
      }),
      expect: notFound,
    },
    {
      name: 'refuses a key of another account',
      as: 'other admin',
      request: ({ address }) => ({ body: { ...address, maxActivations: 4 } }),
      expect: notFound,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ kind: 'admin', productIds: [otherProductId] }),
      request: ({ address }) => ({ body: { ...address, maxActivations: 4 } }),
      expect: notFound,
    },
  ],
);
