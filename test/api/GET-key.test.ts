import { expect } from 'vitest';
import { scenarios } from '../support/scenario.ts';
import { checkOut } from '../support/sessions.ts';
import type { Address } from '../support/world.ts';

interface Subject {
  /** A key of one slot, which host-1 holds; its customer is Zoë. */
  readonly address: Address;
  readonly customerId: string;
  readonly otherProductId: string;
}

const missing = { status: 400, code: 1, message: 'Missing required params' };
const notFound = { status: 404, code: 1, message: 'License not found' };

/** A licence file of an hour, signed when the world began. */
const signedFile = (hostId: string) => ({
  id: expect.stringMatching(/^fil_[0-9a-z]{26}$/),
  hostId,
  kid: expect.stringMatching(/^[\w-]{43}$/),
  signedAt: '2026-11-21T10:00:00.000Z',
  endsAt: '2026-11-21T11:00:00.000Z',
  revokedAt: null,
});

/** The whole answer; key and address as the caller may see them. */
const shown = (
  { address, customerId }: Subject,
  { key, ipAddress }: { readonly key: string; readonly ipAddress: string },
) => ({
  data: {
    license: {
      id: expect.stringMatching(/^lic_/),
      key,
      productId: address.productId,
      maxActivations: 1,
      activations: 1,
      activated: true,
      expirationDate: '2026-12-21T10:00:00.000Z',
      reference: null,
      expiresAfter: null,
      gracePeriod: null,
      graceUntil: null,
      metadata: { features: {}, is_trial: false },
      allowedHosts: null,
      licenseType: 'node-locked',
      maxConcurrentSessions: null,
      heartbeatInterval: 300,
      sessionLeaseDuration: 900,
      customerCanSelfReset: false,
      vendorDisabled: false,
      devices: [
        {
          id: expect.stringMatching(/^dev_[0-9a-z]{26}$/),
          hostId: 'host-1',
          deviceTag: 'No tag',
          ipAddress,
          activationTime: '2026-11-21T10:00:00.000Z',
        },
      ],
      versionId: null,
      version: null,
      createdAt: '2026-11-21T10:00:00.000Z',
      updatedAt: '2026-11-21T10:00:00.000Z',
    },
    customer: { id: customerId, name: 'Zoë', email: 'zoe@example.com', active: true },
    files: [signedFile('host-1')],
  },
  code: 0,
});

const inFull = {
  status: 200,
  body: (subject: Subject) => shown(subject, { key: subject.address.licenseKey, ipAddress: '203.0.113.7' }),
};

const masked = {
  status: 200,
  body: (subject: Subject) =>
    shown(subject, { key: `*****-*****-*****-*****-${subject.address.licenseKey.slice(-5)}`, ipAddress: '203.0.*.*' }),
};

const secrets = ({ address }: Subject) => [address.licenseKey, address.licenseKey.slice(0, 6), '203.0.113'];

scenarios<Subject>(
  'keys.get',
  async (world) => {
    const { id: productId } = await world.product();
    const { id: customerId } = await world.customer({ name: 'Zoë', email: 'zoe@example.com' });
    const address = { productId, licenseKey: await world.key({ productId, customerId, usesPerKey: '1' }) };
    await world.activate(address, 'host-1');
    return { address, customerId, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'shows an admin the licence in full, with its devices and its customer',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address } }),
      expect: inFull,
    },
    {
      name: 'shows it in full to a token that may reveal',
      as: { scopes: ['license:read', 'license:reveal'] },
      request: ({ address }) => ({ query: { ...address } }),
      expect: inFull,
    },
    {
      name: 'shows the sessions of a floating licence whose lease runs, without their secrets',
      given: async (world, { address: { productId } }) => {
        const address = { productId, licenseKey: await world.key({ productId, licenseType: 'floating' }) };
        await checkOut(world, address, { hostId: 'host-7' });
        world.setNow('2026-11-21T10:10:00.000Z');
        await checkOut(world, address, { hostId: 'host-8', userIdentifier: 'zoe' });
        return { address };
      },
      at: '2026-11-21T10:15:00.000Z',
      as: 'read-only',
      request: ({ address }) => ({ query: { ...address } }),
      expect: {
        status: 200,
        body: {
          code: 0,
          data: {
            license: expect.objectContaining({ licenseType: 'floating' }),
            customer: null,
            sessions: [
              {
                id: expect.stringMatching(/^ses_/),
                hostId: 'host-8',
                deviceTag: 'No tag',
                userIdentifier: 'zoe',
                createdAt: '2026-11-21T10:10:00.000Z',
                expiresAt: '2026-11-21T10:25:00.000Z',
              },
            ],
            files: [],
          },
        },
      },
    },
    {
      name: 'shows a token of kind client no session',
      given: async (world, { address: { productId } }) => {
        const address = { productId, licenseKey: await world.key({ productId, licenseType: 'floating' }) };
        await checkOut(world, address, { hostId: 'host-7' });
        return { address };
      },
      as: 'client',
      request: ({ address }) => ({ query: { ...address } }),
      expect: {
        status: 200,
        body: { code: 0, data: { license: expect.objectContaining({ licenseType: 'floating' }), customer: null } },
      },
      absent: () => ['host-7', 'ses_'],
    },
    {
      name: 'masks key and address for a caller that may only read',
      as: 'read-only',
      request: ({ address }) => ({ query: { ...address } }),
      expect: masked,
      absent: secrets,
    },
    {
      name: 'masks them for any other token that may read licences',
      as: { scopes: ['license:read', 'license:write', 'license:activate', 'license:sign'] },
      request: ({ address }) => ({ query: { ...address } }),
      expect: masked,
      absent: secrets,
    },
    {
      name: 'shows a token of kind client its key masked, and nothing of devices, hosts, free metadata or addresses',
      given: async (world, { customerId, address: { productId } }) => {
        const address = {
          productId,
          licenseKey: await world.key({
            productId,
            customerId,
            usesPerKey: '2',
            allowedHosts: ['host-1', 'host-2'],
            reference: 'order-1042',
            metadata: { features: { export: true }, is_trial: true, invoice: 'A-1042' },
          }),
        };
        await world.activate(address, 'host-1');
        return { address };
      },
      as: 'client',
      request: ({ address }) => ({ query: { ...address } }),
      expect: {
        status: 200,
        body: (subject: Subject) => {
          const { data } = shown(subject, {
            key: `*****-*****-*****-*****-${subject.address.licenseKey.slice(-5)}`,
            ipAddress: '',
          });
          const { allowedHosts: _hosts, reference: _reference, ...license } = data.license;
          return {
            data: {
              license: {
                ...license,
                maxActivations: 2,
                devices: [],
                metadata: { features: { export: true }, is_trial: true },
              },
              customer: { ...data.customer, email: null },
            },
            code: 0,
          };
        },
      },
      absent: (subject) => [
        'host-1',
        'host-2',
        '203.0',
        'A-1042',
        'order-1042',
        'zoe@example.com',
        ...secrets(subject),
      ],
    },
    {
      name: 'finds a key by its reference, exactly',
      given: async (world, { address: { productId } }) => {
        await world.key({ productId, reference: 'order-10420' });
        return { address: { productId, licenseKey: await world.key({ productId, reference: 'order-1042' }) } };
      },
      as: 'admin',
      request: ({ address: { productId } }) => ({ query: { productId, reference: 'order-1042' } }),
      expect: {
        status: 200,
        body: ({ address: { licenseKey } }: Subject) => ({
          data: {
            license: expect.objectContaining({ key: licenseKey, reference: 'order-1042' }),
            customer: null,
            files: [],
          },
          code: 0,
        }),
      },
    },
    {
      name: 'masks a key that is found by its reference',
      given: async (world, { address: { productId } }) => ({
        address: { productId, licenseKey: await world.key({ productId, reference: 'order-1042' }) },
      }),
      as: 'read-only',
      request: ({ address: { productId } }) => ({ query: { productId, reference: 'order-1042' } }),
      expect: {
        status: 200,
        body: {
          data: { license: expect.objectContaining({ key: expect.stringMatching(/^\*/) }), customer: null, files: [] },
          code: 0,
        },
      },
      absent: secrets,
    },
    {
      name: 'finds no key of another product by its reference',
      given: async (world, { otherProductId }) => {
        await world.key({ productId: otherProductId, reference: 'order-1042' });
      },
      as: 'admin',
      request: ({ address: { productId } }) => ({ query: { productId, reference: 'order-1042' } }),
      expect: notFound,
    },
    {
      name: 'refuses a reference to a token of kind client, whether a key has it or not',
      as: 'client',
      request: ({ address: { productId } }) => ({ query: { productId, reference: 'order-1042' } }),
      expect: { status: 403, code: 1, message: 'Insufficient permissions for this operation' },
    },
    {
      name: 'refuses a key together with a reference',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, reference: 'order-1042' } }),
      expect: missing,
    },
    {
      name: 'refuses a token of kind client a key of a product that it may not use',
      as: ({ otherProductId }) => ({ kind: 'client', productIds: [otherProductId] }),
      request: ({ address }) => ({ query: { ...address } }),
      expect: notFound,
      absent: secrets,
    },
    {
      name: 'shows all others the free metadata, beside features and is_trial',
      given: async (world, { address: { productId } }) => {
        const metadata = { invoice: 'A-1042', seats: 3, renewed: false, features: { export: true } };
        return { address: { productId, licenseKey: await world.key({ productId, metadata }) } };
      },
      as: 'read-only',
      request: ({ address }) => ({ query: { ...address } }),
      expect: {
        status: 200,
        body: {
          data: {
            license: expect.objectContaining({
              metadata: { invoice: 'A-1042', seats: 3, renewed: false, features: { export: true }, is_trial: false },
            }),
            customer: null,
            files: [],
          },
          code: 0,
        },
      },
    },
    {
      name: 'masks all but the last four characters of a key of another format',
      given: async (world, { address: { productId } }) => {
        const licenseKey = 'LEGACY/2019/0000000042/ABCD';
        await world.sql(`update licenses set license_key = '${licenseKey}'`);
        return { address: { productId, licenseKey } };
      },
      as: 'read-only',
      request: ({ address }) => ({ query: { ...address } }),
      expect: {
        status: 200,
        body: (subject: Subject) => shown(subject, { key: `${'*'.repeat(23)}ABCD`, ipAddress: '203.0.*.*' }),
      },
      absent: () => ['LEGACY', '42/ABCD'],
    },
    {
      name: 'shows no customer for a key that has none',
      given: async (world, { address: { productId } }) => ({
        address: { productId, licenseKey: await world.key({ productId }) },
      }),
      as: 'admin',
      request: ({ address }) => ({ query: { ...address } }),
      expect: {
        status: 200,
        body: ({ address }: Subject) => ({
          data: {
            license: expect.objectContaining({ key: address.licenseKey, devices: [] }),
            customer: null,
            files: [],
          },
          code: 0,
        }),
      },
    },
    {
      name: 'shows a key that the vendor has disabled as not activated, with its devices',
      given: (world) => world.sql('update licenses set vendor_disabled = 1'),
      as: 'admin',
      request: ({ address }) => ({ query: { ...address } }),
      expect: {
        status: 200,
        body: {
          data: {
            license: expect.objectContaining({ activated: false, vendorDisabled: true, activations: 1 }),
            customer: expect.anything(),
            files: [signedFile('host-1')],
          },
          code: 0,
        },
      },
    },
    {
      name: 'lists the files that have not ended, also of freed devices, the one that lasts longest first',
      given: async (world, { address }) => {
        await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-1', ttl: 60 });
        await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-1', ttl: 7_200 });
        world.setNow('2026-11-21T10:01:00.000Z');
        await world.call('admin', 'POST', '/deactivate-key', { ...address, hostId: 'host-1' });
      },
      as: 'read-only',
      request: ({ address }) => ({ query: { ...address } }),
      expect: {
        status: 200,
        body: {
          data: {
            license: expect.objectContaining({ activated: false, devices: [] }),
            customer: expect.anything(),
            files: ['2026-11-21T12:00:00.000Z', '2026-11-21T11:00:00.000Z'].map((endsAt) => ({
              ...signedFile('host-1'),
              endsAt,
              revokedAt: '2026-11-21T10:01:00.000Z',
            })),
          },
          code: 0,
        },
      },
    },
    {
      name: 'lists devices oldest first',
      given: async (world, { address: { productId } }) => {
        const address = { productId, licenseKey: await world.key({ productId }) };
        for (const [second, hostId] of ['host-c', 'host-a', 'host-b'].entries()) {
          world.setNow(`2026-11-21T10:00:0${second}.000Z`);
          await world.activate(address, hostId);
        }
        return { address };
      },
      as: 'admin',
      request: ({ address }) => ({ query: { ...address } }),
      expect: {
        status: 200,
        body: {
          data: {
            license: expect.objectContaining({
              devices: [
                expect.objectContaining({ hostId: 'host-c', activationTime: '2026-11-21T10:00:00.000Z' }),
                expect.objectContaining({ hostId: 'host-a', activationTime: '2026-11-21T10:00:01.000Z' }),
                expect.objectContaining({ hostId: 'host-b', activationTime: '2026-11-21T10:00:02.000Z' }),
              ],
              updatedAt: '2026-11-21T10:00:02.000Z',
            }),
            customer: null,
            files: ['host-b', 'host-a', 'host-c'].map((hostId) => expect.objectContaining({ hostId })),
          },
          code: 0,
        },
      },
    },
    {
      name: 'finds a key without its product',
      as: 'admin',
      request: ({ address: { licenseKey } }) => ({ query: { licenseKey } }),
      expect: inFull,
    },
    {
      name: 'finds no key without its product that does not exist',
      as: 'admin',
      request: { query: { licenseKey: '00000-00000-00000-00000-00000' } },
      expect: notFound,
    },
    {
      name: 'finds no key without its product for a token that is for another',
      as: ({ otherProductId }) => ({ kind: 'read-only', productIds: [otherProductId] }),
      request: ({ address: { licenseKey } }) => ({ query: { licenseKey } }),
      expect: notFound,
    },
    {
      name: 'finds no key of another account without its product',
      as: 'other admin',
      request: ({ address: { licenseKey } }) => ({ query: { licenseKey } }),
      expect: notFound,
    },
    {
      name: 'refuses a key that is not there',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, licenseKey: '00000-00000-00000-00000-00000' } }),
      expect: notFound,
    },
    {
      name: 'refuses a key of another product',
      as: 'admin',
      request: ({ address, otherProductId }) => ({ query: { ...address, productId: otherProductId } }),
      expect: notFound,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ kind: 'admin', productIds: [otherProductId] }),
      request: ({ address }) => ({ query: { ...address } }),
      expect: notFound,
    },
  ],
);
