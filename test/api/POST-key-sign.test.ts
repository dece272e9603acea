import { expect } from 'vitest';
import { verifyLicenseFile } from '../../src/domain/license-file/verify.ts';
import { type Afterwards, scenarios } from '../support/scenario.ts';
import { type Address, STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  /** A key of two slots for Zoë, which expires on 21 December; host-1 holds one slot. */
  readonly address: Address;
  readonly customerId: string;
  readonly otherProductId: string;
}

const DAWN_SECONDS = Date.parse(STARTED_AT) / 1_000;

const signed = { status: 200, body: { file: expect.stringMatching(/^\{"format":"lkm-lic\/1",/) } };
const missing = { status: 400, code: 1, message: 'Missing required params' };
const notFound = { status: 404, code: 1, message: 'License not found' };

/** A key of the same product, with other fields. */
const another =
  (fields: Readonly<Record<string, unknown>>) =>
  async (world: World, { address: { productId } }: Subject) => ({
    address: { productId, licenseKey: await world.key({ productId, ...fields }) },
  });

/** The hosts that then hold a slot, and what the licence counts. */
const leaves =
  (...hostIds: readonly string[]): Afterwards<Subject> =>
  async (world, { address }) => {
    const { activations, activated, devices } = await world.license(address);
    expect({ activations, activated, hostIds: devices.map((device) => device.hostId).sort() }).toEqual({
      activations: hostIds.length,
      activated: true,
      hostIds,
    });
  };

/** When the file expires, in seconds from the signing on. */
const expiresIn =
  (seconds: number): Afterwards<Subject> =>
  async (_world, _subject, { body }) => {
    const [, claims = ''] = JSON.parse(body.file).licenseToken.split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString()).exp - DAWN_SECONDS).toBe(seconds);
  };

scenarios<Subject>(
  'keys.sign',
  async (world) => {
    const { id: productId } = await world.product();
    const { id: customerId } = await world.customer({ name: 'Zoë', email: 'zoe@example.com' });
    const metadata = { features: { export: true }, is_trial: true, invoice: 'A-1042' };
    const address = { productId, licenseKey: await world.key({ productId, customerId, usesPerKey: '2', metadata }) };
    await world.activate(address, 'host-1');
    return { address, customerId, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'takes a slot for a new host',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
      afterwards: leaves('host-1', 'host-2'),
    },
    {
      name: 'signs for the one device that a token of kind client names',
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
      absent: () => ['zoe@example.com', '203.0.113'],
      afterwards: leaves('host-1', 'host-2'),
    },
    {
      name: 'refuses a token of kind client that names no device',
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: missing,
    },
    {
      name: 'refuses a token of kind client a key of a product that it may not use',
      as: ({ otherProductId }) => ({ kind: 'client', productIds: [otherProductId] }),
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: notFound,
    },
    {
      name: 'signs a file that verifies with the published keys, and states the licence',
      as: { scopes: ['license:sign'] },
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
      absent: () => ['zoe@example.com'],
      afterwards: async (world, { address, customerId }, { body }) => {
        const { keys } = (await world.call('nobody', 'GET', '/.well-known/jwks.json')).body;
        expect(verifyLicenseFile(body.file, { keys, now: STARTED_AT, hostId: 'host-2' })).toEqual({
          verdict: 'ok',
          revocations: null,
          watermark: DAWN_SECONDS,
          claims: {
            iss: world.accounts.acme,
            jti: expect.stringMatching(/^fil_[0-9a-z]{26}$/),
            sub: (await world.license(address)).id,
            key: address.licenseKey,
            productId: address.productId,
            machine: 'host-2',
            type: 'offline',
            iat: DAWN_SECONDS,
            nbf: DAWN_SECONDS,
            exp: Date.parse('2026-12-21T10:00:00.000Z') / 1_000,
            licenseExp: Date.parse('2026-12-21T10:00:00.000Z') / 1_000,
            features: { export: true },
            is_trial: true,
            licenseType: 'node-locked',
            customer: { id: customerId, name: 'Zoë' },
            v: 1,
          },
        });
      },
    },
    {
      name: 'remembers the address a device was activated from',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
      afterwards: async (world, { address }) => {
        expect((await world.license(address)).devices).toContainEqual({
          id: expect.stringMatching(/^dev_/),
          hostId: 'host-2',
          deviceTag: 'No tag',
          ipAddress: '203.0.113.7',
          activationTime: STARTED_AT,
        });
      },
    },
    {
      name: 'takes no second slot for a host that holds one',
      at: '2026-11-21T11:00:00.000Z',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: signed,
      wrote: { license_files: 1 },
      afterwards: leaves('host-1'),
    },
    {
      name: 'signs again for a host that holds a slot when no slot is free',
      given: (world, { address }) => world.activate(address, 'host-2'),
      at: '2026-11-21T11:00:00.000Z',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: signed,
      wrote: { license_files: 1 },
      afterwards: leaves('host-1', 'host-2'),
    },
    {
      name: 'gives a freed slot to another host',
      given: async (world, { address }) => {
        await world.activate(address, 'host-2');
        await world.call('admin', 'POST', '/deactivate-key', { ...address, hostId: 'host-1' });
      },
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-3' } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
      afterwards: leaves('host-2', 'host-3'),
    },
    {
      name: 'signs for a host on the list of allowed ones',
      given: another({ allowedHosts: ['host-8', 'host-9'] }),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-9' } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
      afterwards: leaves('host-9'),
    },
    {
      name: 'signs for a floating licence',
      given: another({ licenseType: 'floating' }),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-9' } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
      afterwards: leaves('host-9'),
    },
    {
      name: 'remembers the file: its id, its key and its end, and never its text',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2', ttl: 7_200 } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
      afterwards: async (world, { address }, { body }) => {
        const { licenseToken, keyId } = JSON.parse(body.file);
        const { jti } = JSON.parse(Buffer.from(licenseToken.split('.')[1], 'base64url').toString());
        const { license_files: files } = await world.contents();
        expect(files?.find(({ id }) => id === jti)).toEqual({
          account_id: world.accounts.acme,
          id: jti,
          license_id: (await world.license(address)).id,
          host_id: 'host-2',
          kid: keyId,
          signed_at: STARTED_AT,
          ends_at: '2026-11-21T12:00:00.000Z',
          revoked_at: null,
        });
        expect(JSON.stringify(files)).not.toContain(licenseToken);
      },
    },
    {
      name: 'takes a hostId of 64 characters',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'h'.repeat(64) } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
    },
    {
      name: 'ends the file after ttl seconds when the licence never expires',
      given: another({ expiryDate: null }),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1', ttl: 60 } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
      afterwards: expiresIn(60),
    },
    {
      name: 'ends the file after ttl seconds when the licence expires later',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2', ttl: 3_600 } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
      afterwards: expiresIn(3_600),
    },
    {
      name: 'ends the file with the licence when ttl is longer',
      given: another({ expiryDate: '2026-11-21T11:00:00.000Z' }),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2', ttl: 3_601 } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
      afterwards: expiresIn(3_600),
    },
    {
      name: 'signs up to the last millisecond of the licence',
      at: '2026-12-21T09:59:59.999Z',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: signed,
      wrote: { devices: 1, license_files: 1 },
    },
    {
      name: 'needs ttl when the licence never expires',
      given: another({ expiryDate: null }),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: missing,
    },
    {
      name: 'refuses a ttl under 60 seconds',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1', ttl: 59 } }),
      expect: missing,
    },
    {
      name: 'refuses a ttl that is text',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1', ttl: '60' } }),
      expect: missing,
    },
    {
      name: 'refuses a ttl that is not whole',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1', ttl: 60.5 } }),
      expect: missing,
    },
    {
      name: 'refuses a third host when both slots are taken',
      given: (world, { address }) => world.activate(address, 'host-2'),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-3' } }),
      expect: { status: 403, code: 3, message: 'Activation limit reached' },
      afterwards: leaves('host-1', 'host-2'),
    },
    {
      name: 'refuses a host that is not on the list of allowed ones',
      given: another({ allowedHosts: ['host-8'] }),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-9' } }),
      expect: { status: 403, code: 4, message: 'Device not allowed' },
    },
    {
      name: 'refuses a licence from the instant of its expiry on, even for a host that holds a slot',
      at: '2026-12-21T10:00:00.000Z',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1', ttl: 60 } }),
      expect: { status: 403, code: 5, message: 'License expired' },
    },
    {
      name: 'refuses a licence that the vendor has disabled, even for a host that holds a slot',
      given: (world) => world.sql('update licenses set vendor_disabled = 1'),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: { status: 403, code: 6, message: 'License disabled' },
    },
    {
      name: 'refuses the licence of a customer that is not active',
      given: (world) => world.sql('update customers set active = 0'),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: { status: 403, code: 7, message: 'Customer inactive' },
    },
    {
      name: 'refuses a key that is not there',
      as: 'admin',
      request: ({ address }) => ({
        body: { ...address, licenseKey: '00000-00000-00000-00000-00000', hostId: 'host-1' },
      }),
      expect: notFound,
    },
    {
      name: 'refuses a key of another product',
      as: 'admin',
      request: ({ address, otherProductId }) => ({ body: { ...address, productId: otherProductId, hostId: 'host-1' } }),
      expect: notFound,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ scopes: ['license:sign'], productIds: [otherProductId] }),
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: notFound,
    },
    {
      name: 'answers a server error when the file cannot be signed, and takes no slot',
      given: (world) => world.sql('delete from signing_keys'),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: { status: 500, code: 1, message: 'Server error' },
      absent: ({ address }) => ['signing', address.licenseKey],
      afterwards: leaves('host-1'),
    },
  ],
);
