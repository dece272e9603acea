import { refuses, row, scenarios } from '../support/scenario.ts';
import { checkOut } from '../support/sessions.ts';
import { another, type Shop, shopWith, signedFor, unknownKeys } from '../support/shop.ts';
import { STARTED_AT, type World } from '../support/world.ts';

const rule = (rule: string, detail: string, reason?: string) => ({
  rule,
  passed: reason === undefined,
  detail,
  ...(reason && { reason }),
});

const enabled = rule('enabled', 'The vendor has not disabled the licence.');
const term = rule('term', 'The licence expires at 2026-12-21T10:00:00.000Z.');
const customer = rule('customer', 'Its customer is active.');
const noCustomer = rule('customer', 'The licence has no customer.');
const anyHost = rule('host', 'Any host may use the licence.');
const usual = [enabled, term, customer, anyHost];
const held = rule('slot', 'host-1 holds a slot already.');
const noSlot = rule('slot', '2 of 2 slots are taken.', 'activationLimit');
const ofFloating = [rule('type', 'The licence is floating.'), enabled, term, noCustomer, anyHost];

const explained = (rules: readonly object[], more: object = {}) => ({
  body: {
    code: 0,
    data: { allowed: rules.every((one) => !('reason' in one)), action: 'activate', at: STARTED_AT, rules, ...more },
  },
});

/** A floating key whose one seat is taken. */
const taken = async (world: World, subject: Shop) => {
  const floating = await another({ licenseType: 'floating', maxConcurrentSessions: 1 })(world, subject);
  await checkOut(world, floating.address);
  return floating;
};

scenarios<Shop>(
  'keys.why',
  {
    // Of its two slots host-1 holds one; it expires on 21 December.
    given: shopWith({ usesPerKey: '2' }, 'host-1'),
    query: ({ address }) => address,
  },
  [
    row(
      'says that a new host may activate, and takes no slot',
      explained([...usual, rule('slot', '1 of 2 slots are taken.')]),
      {
        send: { hostId: 'host-9' },
        as: 'read-only',
      },
    ),
    row('says what holds for a host that is not named', explained([...usual, noSlot]), { given: signedFor('host-2') }),
    row('says that a host that holds a slot keeps it', explained([...usual, held], { action: 'sign' }), {
      send: { hostId: 'host-1', action: 'sign' },
      given: signedFor('host-2'),
    }),
    row('tells a token of kind client about its own host and no other', explained([...usual, noSlot]), {
      send: { hostId: 'host-9' },
      given: signedFor('host-2'),
      as: 'client',
      absent: ({ address }) => ['host-1', 'host-2', '203.0.113', address.licenseKey],
    }),
    row('refuses a token of kind client that names no host', 'invalidParams', { as: 'client' }),
    row(
      'names no host of the list of allowed ones but the one that is asked about',
      explained([
        ...[enabled, term, noCustomer],
        rule('host', 'host-9 is not an allowed host.', 'deviceNotAllowed'),
        rule('slot', 'The licence has any number of slots.'),
      ]),
      {
        send: { hostId: 'host-9' },
        given: another({ allowedHosts: ['host-7', 'host-8'] }),
        as: 'client',
        absent: ['host-7', 'host-8'],
      },
    ),
    row(
      'looks at the instant that it is asked about',
      explained(
        [
          enabled,
          rule('term', 'The licence expired at 2026-12-21T10:00:00.000Z.', 'licenseExpired'),
          customer,
          anyHost,
          held,
        ],
        { at: '2026-12-21T10:00:00.000Z' },
      ),
      { send: { hostId: 'host-1', at: '2026-12-21T12:00:00+02:00' } },
    ),
    row(
      'explains a checkout of a key that is not floating',
      explained(
        [
          rule('type', 'The licence is node-locked.', 'wrongLicenseType'),
          ...usual,
          rule('seat', 'The licence has any number of seats.'),
        ],
        { action: 'checkout' },
      ),
      { send: { action: 'checkout' } },
    ),
    row(
      'counts the sessions whose lease runs',
      explained([...ofFloating, rule('seat', '1 of 1 seats are taken.', 'sessionLimit')], {
        action: 'checkout',
      }),
      { send: { hostId: 'host-9', action: 'checkout' }, given: taken, as: 'client' },
    ),
    row(
      'counts those whose lease runs at the instant that it is asked about, and removes none',
      explained([...ofFloating, rule('seat', '0 of 1 seats are taken.')], {
        action: 'checkout',
        at: '2026-11-21T10:15:00.000Z',
      }),
      { send: { action: 'checkout', at: '2026-11-21T10:15:00Z' }, given: taken },
    ),
    row(
      'explains why a device cannot be freed',
      explained(
        [rule('activated', 'The licence is activated.'), rule('device', 'host-9 holds no slot.', 'deviceNotFound')],
        { action: 'deactivate' },
      ),
      { send: { hostId: 'host-9', action: 'deactivate' } },
    ),
    ...refuses('invalidParams', {
      'an action that it does not explain': { action: 'heartbeat' },
      'an instant that is none': { at: 'tomorrow' },
    }),
    ...unknownKeys(),
  ],
);
