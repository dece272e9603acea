import { hash } from 'node:crypto';
import { expect } from 'vitest';
import { verifyActivation } from '../../src/domain/license-file/activation.ts';
import { verifyLicenseFile } from '../../src/domain/license-file/verify.ts';
import { row, scenarios } from '../support/scenario.ts';
import {
  another,
  leaves,
  type Shop,
  shopWith,
  shownDevice,
  signedFor,
  unknownKeys,
  unusable,
} from '../support/shop.ts';
import { STARTED_AT, type World } from '../support/world.ts';

const activated = (hostId: string, activations: number, device: object = {}, isWhole = true) => ({
  body: {
    ...{ code: 0, message: 'Device activated', activations, maxActivations: 2 },
    device: shownDevice({ hostId, ...device }),
    ...{ metadata: expect.objectContaining({ is_trial: false }), licenseeName: 'Zoë', versionId: null, version: null },
    ...(isWhole ? { licenseeEmail: 'zoe@example.com', allowedHosts: null } : { licenseeEmail: null }),
  },
});

const activatedAs = (hostId: string) => ({
  body: expect.objectContaining({ code: 0, device: expect.objectContaining({ hostId }) }),
});

/** A machine of these parts. */
const machine = (cpu: string, disk: string, board: string) =>
  Object.fromEntries(Object.entries({ cpu, disk, board }).map(([name, part]) => [name, hash('sha256', part)]));

/** A key whose device host-1 is of the parts cpu, disk and board, and which compares so many of them. */
const withFingerprint = (fingerprintMatch: number | null) => async (world: World, subject: Shop) => {
  const { address } = await another({ usesPerKey: '2', fingerprintMatch })(world, subject);
  const told = { hostId: 'host-1', fingerprint: machine('cpu', 'disk', 'board') };
  await world.call('admin', 'POST', '/key/activate', { ...address, ...told });
  return { address };
};

/** Host-2 has had the second slot, and has given it back by itself. */
const leftByHost2 =
  (changes: string) =>
  async (world: World, { address }: Shop) => {
    const host2 = { ...address, hostId: 'host-2' };
    for (const path of ['/key/activate', '/deactivate-key'])
      expect((await world.call('client', 'POST', path, host2)).status).toBe(200);
    await world.sql(`update licenses set ${changes}`);
  };

const refusedMoves = [
  row<Shop>('refuses a token of kind client the slot of another host where the customer may not', 'selfResetOff', {
    send: { hostId: 'host-3' },
    given: leftByHost2('customer_can_self_reset = 0'),
    as: 'client',
    afterwards: leaves('host-1'),
  }),
  row<Shop>('refuses it a fourth slot of another host in a year', 'rebindLimit', {
    send: { hostId: 'host-3' },
    given: leftByHost2('moves = 3'),
    as: 'client',
    afterwards: leaves('host-1'),
  }),
];

const LATER = '2026-11-21T11:00:00.000Z';

scenarios<Shop>(
  'keys.activate',
  {
    // Of its two slots host-1 holds one.
    given: async (world) => {
      const shop = await shopWith({ usesPerKey: '2' })(world);
      const body = { ...shop.address, hostId: 'host-1', deviceTag: 'desk' };
      expect((await world.call('admin', 'POST', '/key/activate', body)).status).toBe(200);
      return shop;
    },
    body: ({ address }) => ({ ...address, hostId: 'host-1' }),
    wrote: { devices: 1 },
  },
  [
    row('takes a slot for a new host', activated('host-2', 2, { deviceTag: 'lab', activationTime: LATER }), {
      send: { hostId: 'host-2', deviceTag: 'lab' },
      at: LATER,
      afterwards: leaves('host-1', 'host-2'),
    }),
    row(
      'shows a token of kind client the device that it names, with its address masked',
      activated('host-2', 2, { ipAddress: '203.0.*.*' }, false),
      { send: { hostId: 'host-2' }, as: 'client', absent: ['203.0.113', 'host-1'] },
    ),
    row('proves to who sends a nonce that the service has answered', activatedAs('host-1'), {
      send: { nonce: 'n-1' },
      as: 'client',
      wrote: {},
      afterwards: async (world, { address: { productId, licenseKey } }, { body }) => {
        const { keys } = (await world.call('nobody', 'GET', '/.well-known/jwks.json')).body;
        const options = { keys, now: STARTED_AT, nonce: 'n-1', licenseKey, productId, hostId: 'host-1' };
        expect(verifyActivation(body.proof, options).verdict).toBe('ok');
        expect(verifyActivation(body.proof, { ...options, nonce: 'n-2' }).verdict).toBe('nonce_mismatch');
      },
    }),
    row(
      'answers alike for a host that holds a slot, and changes nothing',
      activated('host-1', 1, { deviceTag: 'desk' }),
      { send: { deviceTag: 'another' }, at: LATER, wrote: 'nothing', afterwards: leaves('host-1') },
    ),
    row('refuses a third host when both slots are taken', 'activationLimit', {
      send: { hostId: 'host-3' },
      given: signedFor('host-2'),
      as: 'client',
      afterwards: leaves('host-1', 'host-2'),
    }),
    ...refusedMoves,
    row('refuses a host that is not on the list of allowed ones', 'deviceNotAllowed', {
      given: another({ allowedHosts: ['host-8'] }),
    }),
    row(
      'knows a device by so many components as the licence says, and keeps its name and its slot',
      activatedAs('host-1'),
      {
        send: { hostId: 'host-9', fingerprint: machine('cpu', 'disk', 'NEW') },
        given: withFingerprint(2),
        wrote: {},
        afterwards: async (world, subject, answer) => {
          await leaves('host-1')(world, subject, answer);
          const device = (await world.contents()).devices?.find(({ fingerprint }) => fingerprint !== null);
          expect(JSON.parse(String(device?.fingerprint))).toEqual(machine('cpu', 'disk', 'NEW'));
        },
      },
    ),
    row('takes a host that shares fewer of them for another', activatedAs('host-9'), {
      send: { hostId: 'host-9', fingerprint: machine('cpu', 'NEW', 'NEW') },
      given: withFingerprint(2),
      wrote: { devices: 1 },
      afterwards: leaves('host-1', 'host-9'),
    }),
    row('compares no components unless the licence says so', activatedAs('host-9'), {
      send: { hostId: 'host-9', fingerprint: machine('cpu', 'disk', 'board') },
      given: withFingerprint(null),
      wrote: { devices: 1 },
      afterwards: leaves('host-1', 'host-9'),
    }),
    ...unusable,
    ...unknownKeys(),
  ],
);

const seconds = (instant: string) => Date.parse(instant) / 1_000;

const signed = { body: { code: 0, file: expect.stringMatching(/^\{"format":"lkm-lic\/1",/) } };

const toHost2 = { hostId: 'host-2' };

scenarios<Shop>(
  'keys.sign',
  {
    // Of its two slots host-1 holds one; it expires on 21 December.
    given: shopWith(
      { usesPerKey: '2', metadata: { features: { export: true }, is_trial: true, invoice: 'A-1042' } },
      'host-1',
    ),
    body: ({ address }) => ({ ...address, hostId: 'host-1' }),
    wrote: { devices: 1, license_files: 1 },
  },
  [
    row('signs for the one device that a token of kind client names, which takes a slot', signed, {
      send: toHost2,
      as: 'client',
      afterwards: leaves('host-1', 'host-2'),
    }),
    row('signs a file that verifies with the published keys, and states the licence', signed, {
      send: toHost2,
      as: { scopes: ['license:sign'] },
      absent: ['zoe@example.com', '203.0.113'],
      afterwards: async (world, { address, customerId }, { body }) => {
        const { keys } = (await world.call('nobody', 'GET', '/.well-known/jwks.json')).body;
        expect(verifyLicenseFile(body.file, { keys, now: STARTED_AT, hostId: 'host-2' })).toEqual({
          ...{ verdict: 'ok', revocations: null, watermark: seconds(STARTED_AT) },
          claims: {
            ...{ iss: world.accounts.acme, jti: expect.stringMatching(/^fil_[0-9a-z]{26}$/), type: 'offline', v: 1 },
            ...{ sub: (await world.license(address)).id, key: address.licenseKey, productId: address.productId },
            ...{ machine: 'host-2', iat: seconds(STARTED_AT), nbf: seconds(STARTED_AT) },
            ...{ exp: seconds('2026-12-21T10:00:00.000Z'), licenseExp: seconds('2026-12-21T10:00:00.000Z') },
            ...{ features: { export: true }, is_trial: true, licenseType: 'node-locked' },
            customer: { id: customerId, name: 'Zoë' },
          },
        });
      },
    }),
    row('remembers the device, and of the file its id, its key and its end, never its text', signed, {
      send: { ...toHost2, ttl: 7_200 },
      afterwards: async (world, { address }, { body }) => {
        const { id, devices } = await world.license(address);
        expect(devices).toContainEqual(shownDevice({ hostId: 'host-2' }));
        const { licenseToken, keyId } = JSON.parse(body.file);
        const { jti } = JSON.parse(Buffer.from(licenseToken.split('.')[1], 'base64url').toString());
        const { license_files: files } = await world.contents();
        expect(files?.find((file) => file.id === jti)).toEqual({
          ...{ account_id: world.accounts.acme, id: jti, license_id: id, host_id: 'host-2', kid: keyId },
          ...{ signed_at: STARTED_AT, ends_at: '2026-11-21T12:00:00.000Z', revoked_at: null },
        });
      },
    }),
    row('states what the application has made up for its request', signed, {
      send: { nonce: 'n-1' },
      wrote: { license_files: 1 },
      afterwards: async (world, _, { body }) => {
        const { keys } = (await world.call('nobody', 'GET', '/.well-known/jwks.json')).body;
        const { verdict } = verifyLicenseFile(body.file, { keys, now: STARTED_AT, nonce: 'n-1' });
        expect(verdict).toBe('ok');
        expect(verifyLicenseFile(body.file, { keys, now: STARTED_AT, nonce: 'n-2' }).verdict).toBe('nonce_mismatch');
      },
    }),
    row('refuses a nonce that is too long', 'invalidParams', { send: { nonce: 'n'.repeat(65) } }),
    row('signs for the device that a host is by its fingerprint, under the name that it has', signed, {
      send: { hostId: 'host-9', fingerprint: machine('NEW', 'disk', 'board') },
      given: withFingerprint(2),
      wrote: { license_files: 1 },
      afterwards: async (world, subject, answer) => {
        await leaves('host-1')(world, subject, answer);
        const [, claims = ''] = JSON.parse(answer.body.file).licenseToken.split('.');
        expect(JSON.parse(Buffer.from(claims, 'base64url').toString()).machine).toBe('host-1');
      },
    }),
    row('needs ttl when the licence never expires', 'invalidParams', { given: another({ expiryDate: null }) }),
    row('refuses a third host when both slots are taken', 'activationLimit', {
      send: { hostId: 'host-3' },
      given: signedFor('host-2'),
      afterwards: leaves('host-1', 'host-2'),
    }),
    ...refusedMoves,
    row('refuses a host that is not on the list of allowed ones', 'deviceNotAllowed', {
      given: another({ allowedHosts: ['host-8'] }),
    }),
    row('answers a server error when the file cannot be signed, and takes no slot', 'serverError', {
      send: toHost2,
      given: (world) => world.sql('delete from signing_keys'),
      absent: ({ address }) => ['signing', address.licenseKey],
      afterwards: leaves('host-1'),
    }),
    ...unusable,
    ...unknownKeys(),
  ],
);
