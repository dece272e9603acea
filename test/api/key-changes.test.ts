import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { type Afterwards, refuses, row, scenarios } from '../support/scenario.ts';
import { checkOut } from '../support/sessions.ts';
import { another, refusesRevoked, type Shop, shopWith, shownDevice, unknownKeys } from '../support/shop.ts';
import { STARTED_AT, type World } from '../support/world.ts';

const BEFORE = '2027-01-01T00:00:00.000Z';
const IN_A_WEEK = '2026-11-28T10:00:00.000Z';

/** The licence with this end. */
const ending = (expirationDate: string) => ({
  body: ({ address }: Shop) => ({
    data: expect.objectContaining({ key: address.licenseKey, expirationDate, gracePeriod: 'P2W' }),
    code: 0,
  }),
});

scenarios<Shop>(
  'keys.renew',
  {
    // It ends with two weeks of grace.
    given: shopWith({ expiryDate: '2027-01-31T12:00:00Z', gracePeriod: 'P2W' }),
    body: ({ address }) => ({ ...address, duration: 'P1Y' }),
    wrote: {},
  },
  [
    row('adds to the end while that is to come, by the calendar, and says so', ending('2027-02-28T12:00:00.000Z'), {
      send: { duration: 'P1M' },
      at: BEFORE,
      afterwards: async (world, { address }, { body }) => {
        expect(await world.license(address)).toEqual(body.data);
        expect(body.data).toMatchObject({ graceUntil: '2027-03-14T12:00:00.000Z', updatedAt: BEFORE });
        const data = { from: '2027-01-31T12:00:00.000Z', to: '2027-02-28T12:00:00.000Z' };
        expect(await recordedOf(world, 'keys.renew')).toMatchObject({ events: [{ type: 'license.renewed', data }] });
      },
    }),
    row('goes to the end of the year 9999 at most', ending('9999-12-31T23:59:59.999Z'), {
      send: { duration: 'P9999Y', from: 'later' },
    }),
    row('refuses a licence that never expires', 'noEnd', { given: another({ expiryDate: null }) }),
    refusesRevoked,
    ...unknownKeys(),
  ],
);

interface Transfer extends Shop {
  readonly otherCustomerId: string;
}

const transferred = {
  body: ({ address }: Transfer) => ({
    data: expect.objectContaining({ key: address.licenseKey, activations: 1, devices: [shownDevice()] }),
    code: 0,
  }),
};

/** The name of the customer that the key then has. */
const belongsTo =
  (name: string): Afterwards<Transfer> =>
  async (world, { address }) => {
    const { body } = await world.call('admin', 'GET', `/key?${new URLSearchParams({ ...address })}`);
    expect(body.data.customer?.name).toBe(name);
  };

scenarios<Transfer>(
  'keys.transfer',
  {
    given: async (world) => ({
      ...(await shopWith({}, 'host-1')(world)),
      otherCustomerId: (await world.customer({ name: 'Acme' })).id,
    }),
    body: ({ address }) => ({ ...address, newCustomer: { name: 'Ada', email: 'ada@example.com' } }),
  },
  [
    row('gives the key to another customer, with its devices, and says so in the record', transferred, {
      send: ({ otherCustomerId }) => ({ newCustomer: undefined, customerId: otherCustomerId }),
      wrote: {},
      afterwards: async (world, subject, answer) => {
        await belongsTo('Acme')(world, subject, answer);
        const data = { from: subject.customerId, to: subject.otherCustomerId };
        const { events } = await recordedOf(world, 'keys.transfer');
        expect(events).toMatchObject([{ type: 'license.transferred', data }]);
      },
    }),
    row('gives it to a customer that it creates', transferred, {
      as: { scopes: ['license:write', 'license:reveal'] },
      wrote: { customers: 1 },
      afterwards: belongsTo('Ada'),
    }),
    row('leaves it with the customer that has it, without an event', transferred, {
      send: ({ customerId }) => ({ newCustomer: undefined, customerId }),
      afterwards: async (world) => expect((await recordedOf(world, 'keys.transfer')).events).toEqual([]),
    }),
    ...refuses('invalidParams', {
      'neither customerId nor newCustomer': { newCustomer: undefined },
      'both of them': { customerId: null },
    }),
    row('refuses a customer that is not there', ['customerNotFound', 'Customer cus_absent not found'], {
      send: { newCustomer: undefined, customerId: 'cus_absent' },
    }),
    row(
      'refuses an e-mail address that is taken',
      ['emailTaken', 'A customer with email ZOE@example.com already exists'],
      {
        send: { newCustomer: { name: 'Z', email: 'ZOE@example.com' } },
      },
    ),
    refusesRevoked,
    ...unknownKeys(),
  ],
);

const blocked = { body: { message: 'License blocked', code: 0 } };
const again = ({ body }: { readonly body: object }) => ({ body: { ...body, unchanged: true } });
const unblocked = { body: { message: 'License unblocked', code: 0 } };

const table = { given: shopWith({}, 'host-1'), body: ({ address }: Shop) => address };

async function block(world: World, { address }: Shop): Promise<void> {
  expect((await world.call('admin', 'POST', '/key/block', address)).status).toBe(200);
}

scenarios<Shop>('keys.block', table, [
  row('disables the key, leaves its device its slot, and keeps the note in the record', blocked, {
    send: { note: 'chargeback' },
    at: '2026-11-21T11:00:00.000Z',
    as: { scopes: ['license:write'] },
    wrote: { revocation_lists: 1 },
    afterwards: async (world, { address, customerId }) => {
      const license = await world.license(address);
      const updatedAt = '2026-11-21T11:00:00.000Z';
      expect(license).toMatchObject({ vendorDisabled: true, activated: false, activations: 1, updatedAt });
      const resource = { type: 'license', id: license.id };
      // The note is for the vendor: subscribers are not told.
      const data = { customerId, key: expect.stringMatching(/^\*/), productId: address.productId };
      expect(await recordedOf(world, 'keys.block')).toEqual({
        resource,
        details: expect.objectContaining({ note: 'chargeback' }),
        events: [{ type: 'license.blocked', resource, data }],
      });
    },
  }),
  row('changes nothing again, says so and tells nobody, and keeps that note too', again(blocked), {
    send: { note: 'again' },
    given: block,
    at: '2026-11-21T11:00:00.000Z',
    afterwards: async (world) =>
      expect(await recordedOf(world, 'keys.block')).toMatchObject({ events: [], details: { note: 'again' } }),
  }),
  refusesRevoked,
  ...unknownKeys(),
]);

scenarios<Shop>('keys.unblock', table, [
  row('makes a blocked key usable again', unblocked, {
    send: { ifUpdatedAt: '2026-11-21T10:00:00.001Z' },
    given: block,
    at: '2026-11-21T11:00:00.000Z',
    wrote: {},
    afterwards: async (world, { address }) => {
      expect(await world.license(address)).toMatchObject({ vendorDisabled: false, activated: true });
      expect(await recordedOf(world, 'keys.unblock')).toMatchObject({ events: [{ type: 'license.unblocked' }] });
    },
  }),
  row('changes nothing of a key that is not blocked, and says so', again(unblocked), {
    afterwards: async (world) => expect((await recordedOf(world, 'keys.unblock')).events).toEqual([]),
  }),
  refusesRevoked,
  ...unknownKeys(),
]);

const revocation = { body: { message: 'License revoked', code: 0 } };
const NOON = '2026-11-21T12:00:00.000Z';

scenarios<Shop>('keys.revoke', { ...table, body: ({ address }) => ({ ...address, reason: 'refunded' }) }, [
  row('ends the licence for ever, keeps its devices and the reason, and revokes its files', revocation, {
    at: NOON,
    as: { scopes: ['license:write'] },
    wrote: { revocation_lists: 1 },
    afterwards: async (world, { address }) => {
      const license = await world.license(address);
      const ended = { vendorDisabled: true, revokedAt: NOON, revocationReason: 'refunded', activations: 1 };
      expect(license).toMatchObject(ended);
      expect((await world.store.repositories.files.revocations(world.accounts.acme)).licenses).toEqual([license.id]);
      const recorded = { events: [{ type: 'license.revoked' }], details: { reason: 'refunded' } };
      expect(await recordedOf(world, 'keys.revoke')).toMatchObject(recorded);
      const why = await world.call('admin', 'GET', `/key/why?${new URLSearchParams({ ...address })}`);
      const detail = `The licence was revoked at ${NOON}.`;
      expect(why.body.data.rules[0]).toEqual({ rule: 'revocation', passed: false, detail, reason: 'licenseRevoked' });
      const list = async (status: string) =>
        (await world.call('admin', 'GET', `/key/list?status=${status}`)).body.data.length;
      expect([await list('revoked'), await list('blocked'), await list('active')]).toEqual([1, 0, 0]);
      const { keys } = (await world.call('admin', 'GET', '/stats')).body.data;
      expect(keys).toMatchObject({ total: 1, active: 0, blocked: 0, revoked: 1 });
    },
  }),
  row('ends a blocked licence too, whose files are revoked already', revocation, {
    given: block,
    at: NOON,
    wrote: {},
    afterwards: async (world, { address }) => expect(await world.license(address)).toMatchObject({ revokedAt: NOON }),
  }),
  row('keeps the date and the reason of one that has ended, and tells nobody', revocation, {
    given: async (world, { address }) =>
      void (await world.call('admin', 'POST', '/key/revoke', { ...address, reason: 'fraud' })),
    at: NOON,
    afterwards: async (world) =>
      expect(await recordedOf(world, 'keys.revoke')).toMatchObject({ events: [], details: { reason: 'refunded' } }),
  }),
  ...unknownKeys(),
]);

const FORM = /^([0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$/;
const reissued = (previousKeyUntil: string) => ({
  body: { message: 'License key reissued', key: expect.stringMatching(FORM), previousKeyUntil, code: 0 },
});
const reissue = (world: World, address: Shop['address'], overlap?: string) =>
  world.call('admin', 'POST', '/key/reissue', { ...address, overlap });

/** What each use of a key answers. */
async function uses(world: World, address: Shop['address'], hostId: string) {
  const answers = [
    await world.call('client', 'GET', `/key?${new URLSearchParams({ ...address })}`),
    await world.call('client', 'POST', '/key/activate', { ...address, hostId }),
    await world.call('client', 'POST', '/key/sign', { ...address, hostId, ttl: 3_600 }),
    await world.call('admin', 'PATCH', '/key', { ...address, customerCanSelfReset: true }),
    await world.call('client', 'POST', '/deactivate-key', { ...address, hostId }),
  ];
  return answers.map(({ status }) => status);
}

scenarios<Shop>('keys.reissue', { ...table, wrote: { previous_keys: 1 } }, [
  row('gives the licence a new key, and takes the old one in every operation for a week', reissued(IN_A_WEEK), {
    as: { scopes: ['license:write'] },
    afterwards: async (world, { address }, { body }) => {
      const renamed = { productId: address.productId, licenseKey: body.key };
      const before = { activations: 1, devices: [shownDevice()], previousKeyUntil: IN_A_WEEK };
      expect(await world.license(renamed)).toMatchObject(before);
      expect(await uses(world, renamed, 'host-2')).toEqual([200, 200, 200, 200, 200]);
      world.setNow('2026-11-28T09:59:59.999Z');
      expect(await uses(world, address, 'host-3')).toEqual([200, 200, 200, 200, 200]);
      world.setNow(IN_A_WEEK);
      expect(await uses(world, address, 'host-4')).toEqual([404, 404, 404, 404, 404]);
      const byOld = await world.call('admin', 'GET', `/key?${new URLSearchParams({ ...address })}`);
      expect(byOld.body.data.license.key).toBe(body.key);
      const found = await world.call('admin', 'GET', `/key/list?text=${address.licenseKey}`);
      expect(found.body.data.map(({ key }: { key: string }) => key)).toEqual([body.key]);
      const taken = await world.call('admin', 'POST', '/key/import', {
        ...{ productId: address.productId, key: address.licenseKey },
      });
      expect(taken.body).toEqual({ message: 'This key exists already', code: 9 });
    },
  }),
  row('tells who uses the old key nothing of the new one', reissued(IN_A_WEEK), {
    afterwards: async (world, { address }, { body }) => {
      const asked = { ...address, hostId: 'host-1' };
      const shown = await world.call('client', 'GET', `/key?${new URLSearchParams({ ...address })}`);
      const signed = await world.call('client', 'POST', '/key/sign', { ...asked, ttl: 3_600 });
      expect(JSON.parse(signed.body.file).signedKey).toBe(address.licenseKey);
      for (const { text } of [shown, signed]) expect(text).not.toContain(body.key);
    },
  }),
  row('ends the old key at once without an overlap, and those before it with it', reissued(STARTED_AT), {
    send: { overlap: 'PT0S' },
    given: async (world, { address }) => ({
      address: { ...address, licenseKey: (await reissue(world, address)).body.key },
    }),
    afterwards: async (world, { address }, { body }) => {
      const rows = (await world.contents()).previous_keys;
      expect(rows?.map(({ valid_until }) => valid_until)).toEqual([STARTED_AT, STARTED_AT]);
      expect(await uses(world, address, 'host-2')).toEqual([404, 404, 404, 404, 404]);
      expect((await world.license({ ...address, licenseKey: body.key })).activations).toBe(1);
    },
  }),
  row('tells subscribers both keys masked, and until when the old one works', reissued(IN_A_WEEK), {
    afterwards: async (world, { address }, { body }) => {
      const mask = (key: string) => `*****-*****-*****-*****-${key.slice(-5)}`;
      const data = { key: mask(body.key), previousKey: mask(address.licenseKey), previousKeyUntil: IN_A_WEEK };
      const { events } = await recordedOf(world, 'keys.reissue');
      expect(events).toMatchObject([{ type: 'license.reissued', data }]);
    },
  }),
  refusesRevoked,
  ...unknownKeys(),
]);

const deleted = { body: { action: 'keys.delete', status: true, code: 0 } };

/** Gives the key two devices and a session. */
async function use(world: World, { address }: Shop): Promise<void> {
  await world.activate(address, 'host-1', 'host-2');
  await checkOut(world, address);
}

scenarios<Shop>(
  'keys.delete',
  {
    // Nobody uses it, beside another one in use.
    given: async (world) => {
      const shop = await shopWith({ licenseType: 'floating', reference: 'order-1042' })(world);
      const { productId } = shop.address;
      await world.activate({ productId, licenseKey: await world.key({ productId }) }, 'host-1');
      return shop;
    },
    query: ({ address }) => ({ ...address }),
    wrote: { licenses: -1 },
  },
  [
    row('refuses a key that is in use, and says by what', ['inUse', 'License is in use: 2 devices and 1 session'], {
      send: { force: 'false' },
      given: use,
    }),
    row('removes it with its devices and sessions with force, and no others', deleted, {
      send: { force: 'true' },
      given: use,
      wrote: { licenses: -1, devices: -2, sessions: -1, revocation_lists: 1 },
      afterwards: async (world) =>
        expect(await recordedOf(world, 'keys.delete')).toMatchObject({
          events: [{ data: { devices: 2, sessions: 1 } }],
        }),
    }),
    ...unknownKeys(),
  ],
);
