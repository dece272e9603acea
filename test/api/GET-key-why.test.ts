import { scenarios } from '../support/scenario.ts';
import { checkOut } from '../support/sessions.ts';
import { type Address, STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  /** A key of two slots, which expires on 21 December; host-1 holds one slot. */
  readonly address: Address;
  readonly otherProductId: string;
}

const missing = { status: 400, code: 1, message: 'Missing required params' };
const notFound = { status: 404, code: 1, message: 'License not found' };

const enabled = { rule: 'enabled', passed: true, detail: 'The vendor has not disabled the licence.' };
const term = { rule: 'term', passed: true, detail: 'The licence expires at 2026-12-21T10:00:00.000Z.' };
const customer = { rule: 'customer', passed: true, detail: 'Its customer is active.' };
const noCustomer = { rule: 'customer', passed: true, detail: 'The licence has no customer.' };
const anyHost = { rule: 'host', passed: true, detail: 'Any host may use the licence.' };
const usual = [enabled, term, customer, anyHost];

const slot = (detail: string) => ({ rule: 'slot', passed: true, detail });
const noSlot = { rule: 'slot', passed: false, detail: '2 of 2 slots are taken.', reason: 'activationLimit' };

const explained = (rules: readonly object[], more: { readonly action?: string; readonly at?: string } = {}) => ({
  status: 200,
  body: {
    code: 0,
    data: { allowed: rules.every((rule) => !('reason' in rule)), action: 'activate', at: STARTED_AT, rules, ...more },
  },
});

/** A key of the same product, with other fields. */
const another =
  (fields: Readonly<Record<string, unknown>>) =>
  async (world: World, { address: { productId } }: Subject) => ({
    address: { productId, licenseKey: await world.key({ productId, ...fields }) },
  });

scenarios<Subject>(
  'keys.why',
  async (world) => {
    const { id: productId } = await world.product();
    const { id: customerId } = await world.customer();
    const address = { productId, licenseKey: await world.key({ productId, customerId, usesPerKey: '2' }) };
    await world.activate(address, 'host-1');
    return { address, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'says that a new host may activate, and takes no slot',
      as: 'read-only',
      request: ({ address }) => ({ query: { ...address, hostId: 'host-9' } }),
      expect: explained([...usual, slot('1 of 2 slots are taken.')]),
    },
    {
      name: 'says what holds for a host that is not named',
      given: (world, { address }) => world.activate(address, 'host-2'),
      as: 'admin',
      request: ({ address }) => ({ query: { ...address } }),
      expect: explained([...usual, noSlot]),
    },
    {
      name: 'says that a host that holds a slot keeps it',
      given: (world, { address }) => world.activate(address, 'host-2'),
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, hostId: 'host-1', action: 'sign' } }),
      expect: explained([...usual, slot('host-1 holds a slot already.')], { action: 'sign' }),
    },
    {
      name: 'tells a token of kind client about its own host and no other',
      given: (world, { address }) => world.activate(address, 'host-2'),
      as: 'client',
      request: ({ address }) => ({ query: { ...address, hostId: 'host-9' } }),
      expect: explained([...usual, noSlot]),
      absent: ({ address }) => ['host-1', 'host-2', '203.0.113', address.licenseKey],
    },
    {
      name: 'refuses a token of kind client that names no host',
      as: 'client',
      request: ({ address }) => ({ query: { ...address } }),
      expect: missing,
    },
    {
      name: 'names no host of the list of allowed ones but the one that is asked about',
      given: another({ allowedHosts: ['host-7', 'host-8'] }),
      as: 'client',
      request: ({ address }) => ({ query: { ...address, hostId: 'host-9' } }),
      expect: explained([
        enabled,
        term,
        noCustomer,
        { rule: 'host', passed: false, detail: 'host-9 is not an allowed host.', reason: 'deviceNotAllowed' },
        slot('The licence has any number of slots.'),
      ]),
      absent: () => ['host-7', 'host-8'],
    },
    {
      name: 'looks at the instant that it is asked about',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, hostId: 'host-1', at: '2026-12-21T12:00:00+02:00' } }),
      expect: explained(
        [
          enabled,
          {
            rule: 'term',
            passed: false,
            detail: 'The licence expired at 2026-12-21T10:00:00.000Z.',
            reason: 'licenseExpired',
          },
          customer,
          anyHost,
          slot('host-1 holds a slot already.'),
        ],
        { at: '2026-12-21T10:00:00.000Z' },
      ),
    },
    {
      name: 'explains a checkout of a key that is not floating',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, action: 'checkout' } }),
      expect: explained(
        [
          {
            rule: 'type',
            passed: false,
            detail: 'The licence is node-locked.',
            reason: 'wrongLicenseType',
          },
          ...usual,
          { rule: 'seat', passed: true, detail: 'The licence has any number of seats.' },
        ],
        { action: 'checkout' },
      ),
    },
    {
      name: 'counts the sessions whose lease runs',
      given: async (world, subject) => {
        const floating = await another({ licenseType: 'floating', maxConcurrentSessions: 1 })(world, subject);
        await checkOut(world, floating.address);
        return floating;
      },
      as: 'client',
      request: ({ address }) => ({ query: { ...address, hostId: 'host-9', action: 'checkout' } }),
      expect: explained(
        [
          { rule: 'type', passed: true, detail: 'The licence is floating.' },
          enabled,
          term,
          noCustomer,
          anyHost,
          { rule: 'seat', passed: false, detail: '1 of 1 seats are taken.', reason: 'sessionLimit' },
        ],
        { action: 'checkout' },
      ),
    },
    {
      name: 'counts those whose lease runs at the instant that it is asked about, and removes none',
      given: async (world, subject) => {
        const floating = await another({ licenseType: 'floating', maxConcurrentSessions: 1 })(world, subject);
        await checkOut(world, floating.address);
        return floating;
      },
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, action: 'checkout', at: '2026-11-21T10:15:00Z' } }),
      expect: explained(
        [
          { rule: 'type', passed: true, detail: 'The licence is floating.' },
          enabled,
          term,
          noCustomer,
          anyHost,
          { rule: 'seat', passed: true, detail: '0 of 1 seats are taken.' },
        ],
        { action: 'checkout', at: '2026-11-21T10:15:00.000Z' },
      ),
    },
    {
      name: 'explains why a device cannot be freed',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, hostId: 'host-9', action: 'deactivate' } }),
      expect: explained(
        [
          { rule: 'activated', passed: true, detail: 'The licence is activated.' },
          { rule: 'device', passed: false, detail: 'host-9 holds no slot.', reason: 'deviceNotFound' },
        ],
        { action: 'deactivate' },
      ),
    },
    {
      name: 'refuses an action that it does not explain',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, action: 'heartbeat' } }),
      expect: missing,
    },
    {
      name: 'refuses an instant that is none',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, at: 'tomorrow' } }),
      expect: missing,
    },
    {
      name: 'refuses a key that is not there',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, licenseKey: '00000-00000-00000-00000-00000' } }),
      expect: notFound,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ kind: 'client', productIds: [otherProductId] }),
      request: ({ address }) => ({ query: { ...address, hostId: 'host-1' } }),
      expect: notFound,
    },
  ],
);
