import { row, scenarios } from '../support/scenario.ts';
import { checkOut } from '../support/sessions.ts';
import { another, type Shop, shopWith, unknownKeys } from '../support/shop.ts';
import { STARTED_AT } from '../support/world.ts';

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
    row('refuses a token of kind client that names no host', 'invalidParams', { as: 'client' }),
    ...unknownKeys(),
  ],
);
