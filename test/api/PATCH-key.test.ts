import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { type Afterwards, answers, refuses, row, scenarios } from '../support/scenario.ts';
import { checkOut } from '../support/sessions.ts';
import { addVersion, another, refusesRevoked, type Shop, shopWith, unknownKeys } from '../support/shop.ts';
import { STARTED_AT, type World } from '../support/world.ts';

const LATER = '2026-11-21T12:00:00.000Z';

/** The licence with these fields, changed at `LATER`. */
const changed = (fields: object) => ({
  body: ({ address }: Shop) => ({
    data: expect.objectContaining({ key: address.licenseKey, activations: 2, updatedAt: LATER, ...fields }),
    message: 'License updated',
    code: 0,
  }),
});

/** The licence is then as the answer said. */
const asAnswered: Afterwards<Shop> = async (world, { address }, { body }) =>
  expect(await world.license(address)).toEqual(body.data);

/** A floating key with two sessions. */
const floating = async (world: World, subject: Shop) => {
  const { address } = await another({ licenseType: 'floating', maxConcurrentSessions: 5 })(world, subject);
  for (const _ of [1, 2]) await checkOut(world, address);
  return { address };
};

const many = <T>(count: number, name: string, value: (i: number) => T) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name}${i}`, value(i)]));

/** What everything that an update can change is changed to, as the record has it. */
const plain = {
  customerId: null,
  maxActivations: 5,
  expirationDate: '2027-12-31T23:00:00.000Z',
  'metadata.is_trial': true,
  licenseType: 'floating',
  maxConcurrentSessions: 4,
  heartbeatInterval: 60,
  sessionLeaseDuration: 600,
  customerCanSelfReset: false,
  versionId: 'ver_1',
};

const { customerId: _, 'metadata.is_trial': __, ...shown } = plain;

const metadata = { features: { export: true, seats: 3 }, invoice: 'A-1042', plan: 'pro' };
const note = { note: 'call ada@example.com' };

const cleared = {
  ...{ maxActivations: null, expirationDate: null, gracePeriod: null, allowedHosts: null },
  maxConcurrentSessions: null,
};

scenarios<Shop>(
  'keys.update',
  {
    // Of its three slots two are held.
    given: async (world) => {
      const shop = await shopWith({ usesPerKey: '3', metadata }, 'host-1', 'host-2')(world);
      await addVersion(world, shop.address.productId);
      return shop;
    },
    body: ({ address }) => ({ ...address, maxActivations: 4 }),
    wrote: {},
  },
  [
    row(
      'changes every field that is given, and says so in the record without what the vendor wrote',
      changed({
        ...shown,
        gracePeriod: 'P14D',
        graceUntil: '2028-01-14T23:00:00.000Z',
        metadata: { ...metadata, features: { ...metadata.features, sso: true }, is_trial: true, ...note },
        allowedHosts: ['host-1', 'host-9'],
      }),
      {
        send: {
          ...shown,
          customerId: null,
          expirationDate: '2028-01-01T00:00:00+01:00',
          gracePeriod: 'P14D',
          metadata: { features: { sso: true }, is_trial: true, ...note },
          allowedHosts: ['host-1', 'host-9'],
        },
        at: LATER,
        afterwards: async (world, subject, answer) => {
          await asAnswered(world, subject, answer);
          const { address, customerId } = subject;
          const data = {
            ...{ productId: address.productId, customerId: null, key: expect.stringMatching(/^\*/) },
            changed: [
              ...['maxActivations', 'expirationDate', 'customerId', 'gracePeriod', 'allowedHosts', 'licenseType'],
              ...['maxConcurrentSessions', 'heartbeatInterval', 'sessionLeaseDuration', 'customerCanSelfReset'],
              ...['versionId', 'metadata.features', 'metadata', 'metadata.is_trial'],
            ],
            before: {
              ...{ customerId, maxActivations: 3, expirationDate: '2026-12-21T10:00:00.000Z', versionId: null },
              ...{ licenseType: 'node-locked', maxConcurrentSessions: null, heartbeatInterval: 300 },
              ...{ sessionLeaseDuration: 900, customerCanSelfReset: true, 'metadata.is_trial': false },
            },
            after: plain,
          };
          const resource = { type: 'license', id: answer.body.data.id };
          const { events } = await recordedOf(world, 'keys.update');
          expect(events).toEqual([{ type: 'license.updated', resource, data }]);
        },
      },
    ),
    row('clears what null is given for', changed({ activations: 0, ...cleared, expiresAfter: null }), {
      send: cleared,
      given: another({
        ...{ usesPerKey: '3', expiresAfter: 'P1Y', gracePeriod: 'P1D', allowedHosts: ['host-1'] },
        ...{ licenseType: 'floating', maxConcurrentSessions: 2 },
      }),
      at: LATER,
      afterwards: asAnswered,
    }),
    row(
      'merges metadata and its features by name, and null removes an entry',
      changed({ metadata: { features: { export: true, sso: true }, is_trial: false, plan: 'team' } }),
      {
        send: { metadata: { features: { seats: null, sso: true, gone: null }, invoice: null, plan: 'team' } },
        at: LATER,
        afterwards: asAnswered,
      },
    ),
    row('writes nothing when everything is so already, and no event', changed({ updatedAt: STARTED_AT }), {
      send: { maxActivations: 3, metadata: { plan: 'pro' } },
      at: LATER,
      wrote: 'nothing',
      afterwards: async (world, _subject, { body }) => {
        const resource = { type: 'license', id: body.data.id };
        expect(await recordedOf(world, 'keys.update')).toMatchObject({ resource, events: [] });
      },
    }),
    row(
      'masks key and addresses for a token that may not reveal them',
      answers({
        data: expect.objectContaining({
          key: expect.stringMatching(/^\*{5}-/),
          // Of one millisecond, and so in any order.
          devices: expect.arrayContaining(
            ['host-1', 'host-2'].map((hostId) => expect.objectContaining({ hostId, ipAddress: '203.0.*.*' })),
          ),
        }),
        message: 'License updated',
        code: 0,
      }),
      { at: LATER, as: { scopes: ['license:write'] }, absent: ({ address }) => [address.licenseKey, '203.0.113'] },
    ),
    row('refuses fewer slots than devices hold, and says how many', ['inUse', 'License is in use: 2 devices'], {
      send: { maxActivations: 1, force: false },
    }),
    ...[{ maxConcurrentSessions: 1 }, { licenseType: 'node-locked' }].map((send) =>
      row<Shop>(`refuses ${JSON.stringify(send)} below use`, ['inUse', 'License is in use: 2 sessions'], {
        send: { maxActivations: undefined, ...send },
        given: floating,
      }),
    ),
    row('accepts fewer sessions once the leases have ended', changed({ activations: 0, maxConcurrentSessions: 1 }), {
      send: { maxConcurrentSessions: 1 },
      given: floating,
      at: LATER,
    }),
    ...refuses('invalidParams', {
      'nothing to change': { maxActivations: undefined },
      'nothing but conditions': { maxActivations: undefined, force: true, ifUpdatedAt: STARTED_AT },
      'a limit of sessions on a node-locked key': { maxConcurrentSessions: 3 },
      'a heartbeat above the lease that is there': { heartbeatInterval: 901 },
      'a lease below the heartbeat that is there': { heartbeatInterval: 700, sessionLeaseDuration: 600 },
      'metadata that would have more than 50 entries': { metadata: many(49, 'n', (i) => i) },
      'metadata that would have more than 8 192 bytes': { metadata: many(17, 'n', () => 'é'.repeat(250)) },
      'more than 40 features': { metadata: { features: many(39, 'f', () => true) } },
    }),
    ...Object.entries({
      'that is not there': `update product_versions set id = 'ver_2'`,
      'of another product': `update product_versions set product_id = (select id from products where name = 'Viewer')`,
      'that is not active': 'update product_versions set active = 0',
    }).map(([which, text]) =>
      row<Shop>(`refuses a version ${which}`, 'versionNotFound', {
        send: { versionId: 'ver_1' },
        given: (world) => world.sql(text),
      }),
    ),
    row('refuses a plan that is not there', 'planNotFound', { send: { planId: 'plan_absent' } }),
    refusesRevoked,
    row(
      'refuses a new customer whose e-mail address is taken',
      ['emailTaken', 'A customer with email ZOE@example.com already exists'],
      {
        send: { newCustomer: { name: 'Z', email: 'ZOE@example.com' } },
      },
    ),
    row('refuses a customer that is not there', ['customerNotFound', 'Customer cus_absent not found'], {
      send: { customerId: 'cus_absent' },
    }),
    ...unknownKeys(),
  ],
);
