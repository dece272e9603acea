import { expect } from 'vitest';
import { answers, row, scenarios } from '../support/scenario.ts';
import { checkOut } from '../support/sessions.ts';
import { another, type Shop, shopWith, shownDevice, shownLicense, unknownKeys } from '../support/shop.ts';
import { STARTED_AT } from '../support/world.ts';

/** A licence file of an hour, signed when the world began. */
const signedFile = (hostId: string) => ({
  ...{ id: expect.stringMatching(/^fil_[0-9a-z]{26}$/), hostId, kid: expect.stringMatching(/^[\w-]{43}$/) },
  ...{ signedAt: STARTED_AT, endsAt: '2026-11-21T11:00:00.000Z', revokedAt: null },
});

/** The whole answer; key and address as the caller may see them. */
const shown = ({ address, customerId }: Shop, key: string, ipAddress: string) => ({
  data: {
    license: shownLicense({
      ...{ key, productId: address.productId, maxActivations: 1, activations: 1, activated: true },
      devices: [shownDevice({ ipAddress })],
      lastSeenOn: '2026-11-21',
    }),
    customer: { id: customerId, name: 'Zoë', email: 'zoe@example.com', active: true },
    files: [signedFile('host-1')],
  },
  code: 0,
});

const maskOf = ({ address }: Shop) => `*****-*****-*****-*****-${address.licenseKey.slice(-5)}`;
const inFull = { body: (subject: Shop) => shown(subject, subject.address.licenseKey, '203.0.113.7') };
const masked = { body: (subject: Shop) => shown(subject, maskOf(subject), '203.0.*.*') };

/** Some fields of the licence, beside its customer, its files and whatever else is shown. */
const partly = (license: object, beside: object = { customer: null, files: [] }) => ({
  body: { code: 0, data: { license: expect.objectContaining(license), ...beside } },
});

const secrets = ({ address }: Shop) => [address.licenseKey, address.licenseKey.slice(0, 6), '203.0.113'];

const byReference = { licenseKey: undefined, reference: 'order-1042' };
const withoutProduct = { productId: undefined };
const onlyOther = ({ otherProductId }: Shop) => ({ kind: 'read-only', productIds: [otherProductId] }) as const;

scenarios<Shop>('keys.get', { given: shopWith({ usesPerKey: '1' }, 'host-1'), query: ({ address }) => address }, [
  row('shows an admin the licence in full, with its devices and its customer', inFull),
  row(
    'shows the sessions of a floating licence whose lease runs, without their secrets',
    partly(
      { licenseType: 'floating' },
      {
        customer: null,
        sessions: [
          {
            ...{ id: expect.stringMatching(/^ses_/), hostId: 'host-8', deviceTag: 'No tag', userIdentifier: 'zoe' },
            ...{ createdAt: '2026-11-21T10:10:00.000Z', expiresAt: '2026-11-21T10:25:00.000Z' },
          },
        ],
        files: [],
      },
    ),
    {
      given: async (world, subject) => {
        const { address } = await another({ licenseType: 'floating' })(world, subject);
        await checkOut(world, address, { hostId: 'host-7' });
        world.setNow('2026-11-21T10:10:00.000Z');
        await checkOut(world, address, { hostId: 'host-8', userIdentifier: 'zoe' });
        return { address };
      },
      at: '2026-11-21T10:15:00.000Z',
      as: 'read-only',
    },
  ),
  row('masks key and address for a caller that may only read', masked, { as: 'read-only', absent: secrets }),
  row(
    'shows a token of kind client its key masked, and nothing of devices, hosts, free metadata or addresses',
    answers((subject: Shop) => {
      const { data } = shown(subject, maskOf(subject), '');
      const metadata = { features: { export: true }, is_trial: true };
      const {
        allowedHosts: _1,
        reference: _2,
        revocationReason: _3,
        previousKeyUntil: _4,
        lastSeenOn: _5,
        productName: _6,
        ...rest
      } = data.license;
      const license = { ...rest, maxActivations: 2, devices: [], metadata };
      return { data: { license, customer: { ...data.customer, email: null } }, code: 0 };
    }),
    {
      given: async (world, subject) => {
        const metadata = { features: { export: true }, is_trial: true, invoice: 'A-1042' };
        const fields = { usesPerKey: '2', allowedHosts: ['host-1', 'host-2'], reference: 'order-1042', metadata };
        return another({ ...fields, customerId: subject.customerId }, 'host-1')(world, subject);
      },
      as: 'client',
      absent: (subject) => [
        ...['host-1', 'host-2', '203.0', 'A-1042', 'order-1042', 'zoe@example.com'],
        ...secrets(subject),
      ],
    },
  ),
  row(
    'finds a key by its reference, exactly, and masks it',
    partly({ key: expect.stringMatching(/^\*/), reference: 'order-1042' }),
    {
      send: byReference,
      given: async (world, subject) => {
        await another({ reference: 'order-10420' })(world, subject);
        return another({ reference: 'order-1042' })(world, subject);
      },
      as: 'read-only',
      absent: secrets,
    },
  ),
  row('refuses a reference to a token of kind client, whether a key has it or not', 'scopeMissing', {
    send: byReference,
    as: 'client',
  }),
  row('refuses a key together with a reference', 'invalidParams', { send: { reference: 'order-1042' } }),
  row(
    'lists the files that have not ended, also of freed devices, the one that lasts longest first',
    partly(
      { activated: false, devices: [] },
      {
        customer: expect.anything(),
        files: ['2026-11-21T12:00:00.000Z', '2026-11-21T11:00:00.000Z'].map((endsAt) => ({
          ...signedFile('host-1'),
          endsAt,
          revokedAt: '2026-11-21T10:01:00.000Z',
        })),
      },
    ),
    {
      given: async (world, { address }) => {
        const of1 = { ...address, hostId: 'host-1' };
        for (const ttl of [60, 7_200]) await world.call('admin', 'POST', '/key/sign', { ...of1, ttl });
        world.setNow('2026-11-21T10:01:00.000Z');
        await world.call('admin', 'POST', '/deactivate-key', of1);
      },
      as: 'read-only',
    },
  ),
  row('finds a key without its product', inFull, { send: withoutProduct }),
  row('finds no key without its product for a token that is for another', 'licenseNotFound', {
    send: withoutProduct,
    as: onlyOther,
    absent: secrets,
  }),
  row('finds no key of another account without its product', 'licenseNotFound', {
    send: withoutProduct,
    as: 'other admin',
  }),
  ...unknownKeys(),
]);
