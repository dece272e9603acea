import { expect } from 'vitest';
import { row, scenarios } from '../support/scenario.ts';
import { checkOut } from '../support/sessions.ts';
import { another, type Shop, shopWith, unknownKeys } from '../support/shop.ts';
import { STARTED_AT, type World } from '../support/world.ts';

const rule = (rule: string, detail: string, reason?: string) => ({
  rule,
  passed: reason === undefined,
  detail,
  ...(reason && { reason }),
});

const enabled = [
  rule('revocation', 'The licence is not revoked.'),
  rule('enabled', 'The vendor has not disabled the licence.'),
];
const term = rule('term', 'The licence expires at 2026-12-21T10:00:00.000Z.');
const customer = rule('customer', 'Its customer is active.');
const noCustomer = rule('customer', 'The licence has no customer.');
const anyHost = rule('host', 'Any host may use the licence.');

const explained = (rules: readonly object[], more: object = {}) => ({
  body: {
    code: 0,
    data: { allowed: rules.every((one) => !('reason' in one)), action: 'activate', at: STARTED_AT, rules, ...more },
  },
});

/** Hosts that were activated and have freed their slots by themselves. */
const leftBy =
  (...hostIds: readonly string[]) =>
  async (world: World, { address }: Shop): Promise<void> => {
    await world.activate(address, ...hostIds);
    for (const hostId of hostIds)
      expect((await world.call('client', 'POST', '/deactivate-key', { ...address, hostId })).status).toBe(200);
  };

const quarterPast = '2026-11-21T10:15:00.000Z';

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
      explained([...enabled, term, customer, anyHost, rule('slot', '1 of 2 slots are taken.')]),
      { send: { hostId: 'host-9' }, as: 'read-only' },
    ),
    row(
      'names no host of the list of allowed ones but the one that is asked about',
      explained([
        ...[...enabled, term, noCustomer],
        rule('host', 'host-9 is not an allowed host.', 'deviceNotAllowed'),
        rule('slot', 'The licence has any number of slots.'),
        rule('selfReset', 'It takes no slot of another host.'),
        rule('moves', 'No move counts where slots have no limit.'),
      ]),
      {
        send: { hostId: 'host-9' },
        given: another({ allowedHosts: ['host-7', 'host-8'] }),
        as: 'client',
        absent: ['host-7', 'host-8'],
      },
    ),
    row(
      'counts the sessions whose lease runs at the instant that it is asked about, and removes none',
      explained(
        [
          rule('type', 'The licence is floating.'),
          ...[...enabled, term, noCustomer, anyHost],
          rule('seat', '1 of 2 seats are taken.'),
        ],
        { action: 'checkout', at: quarterPast },
      ),
      {
        send: { action: 'checkout', at: '2026-11-21T11:15:00+01:00' },
        given: async (world, subject) => {
          const floating = await another({ licenseType: 'floating', maxConcurrentSessions: 2 })(world, subject);
          await checkOut(world, floating.address);
          world.setNow('2026-11-21T10:00:01.000Z');
          await checkOut(world, floating.address);
          return floating;
        },
      },
    ),
    row(
      'tells a token of kind client what is promised, and how many moves are left, and names no other host',
      explained([
        ...[...enabled, term, customer, anyHost],
        rule('slot', '0 of 2 slots are taken, 2 promised to hosts that left them.'),
        rule('selfReset', 'Its customer may give a slot of another host to this one.'),
        rule('moves', '3 of 3 moves of 2026 are left.'),
      ]),
      { send: { hostId: 'host-9' }, given: leftBy('host-1', 'host-2'), as: 'client', absent: ['host-1', 'host-2'] },
    ),
    row(
      'tells the vendor what is promised, which does not stand in its way',
      explained([
        ...[...enabled, term, customer, anyHost],
        rule('slot', '0 of 2 slots are taken, 2 promised to hosts that left them.'),
      ]),
      { send: { hostId: 'host-9' }, given: leftBy('host-1', 'host-2') },
    ),
    row(
      'says that a promise ends with the year, as of an instant after it',
      explained(
        [
          ...enabled,
          rule('term', 'The licence expired at 2026-12-21T10:00:00.000Z.', 'licenseExpired'),
          ...[customer, anyHost, rule('slot', '0 of 2 slots are taken.')],
        ],
        { at: '2027-01-01T00:00:00.000Z' },
      ),
      { send: { hostId: 'host-1', at: '2027-01-01T00:00:00Z' }, given: leftBy('host-1', 'host-2') },
    ),
    row(
      'says that a device which a token of kind client frees keeps its slot promised',
      explained(
        [
          rule('activated', 'The licence is activated.'),
          rule('device', 'host-1 holds a slot, which stays promised to it until 2026 ends.'),
        ],
        { action: 'deactivate' },
      ),
      { send: { hostId: 'host-1', action: 'deactivate' }, as: 'client' },
    ),
    row('refuses a token of kind client that names no host', 'invalidParams', { as: 'client' }),
    ...unknownKeys(),
  ],
);
