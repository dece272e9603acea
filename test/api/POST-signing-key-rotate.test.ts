import { expect, it } from 'vitest';
import type { Jwk } from '../../src/contract/signing-keys.ts';
import { verifyLicenseFile } from '../../src/domain/license-file/verify.ts';
import { allRecorded } from '../support/recorded.ts';
import { furnish } from '../support/requests.ts';
import { scenarios } from '../support/scenario.ts';
import { createWorld, STARTED_AT, type World } from '../support/world.ts';

const rotated = {
  status: 201,
  body: {
    action: 'signingKeys.rotate',
    status: true,
    data: {
      kid: expect.stringMatching(/^[\w-]{43}$/),
      fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      current: true,
      publicKey: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----\n/),
      jwk: expect.objectContaining({ kty: 'OKP' }),
      createdAt: expect.stringMatching(/^2026-11-21T10:00:00\.00\dZ$/),
    },
    code: 0,
  },
};

const forbidden = { status: 403, code: 1, message: 'Insufficient permissions for this operation' };

const keysOf = async (world: World): Promise<Jwk[]> =>
  (await world.call('nobody', 'GET', '/.well-known/jwks.json')).body.keys;

scenarios('signingKeys.rotate', async () => ({}), [
  {
    name: 'makes a new key, and records it',
    as: 'admin',
    request: {},
    expect: rotated,
    wrote: { signing_keys: 1 },
    absent: () => ['PRIVATE', '"d"'],
    afterwards: async (world, _, { body }) => {
      const [entry] = (await allRecorded(world)).slice(-1);
      expect(entry?.events).toEqual([
        {
          id: expect.stringMatching(/^evt_/),
          type: 'signing_key.rotated',
          resource: { type: 'signing_key', id: body.data.kid },
          data: { kid: body.data.kid, previousKid: 'BuP9j9opu2CrWVV95h7bCuzbIxE0vjDnW0Vfjht5L6k' },
        },
      ]);
      expect((await keysOf(world)).map(({ kid }) => kid)).toEqual([
        body.data.kid,
        'BuP9j9opu2CrWVV95h7bCuzbIxE0vjDnW0Vfjht5L6k',
      ]);
    },
  },
  {
    name: 'makes a key that signs, though the clock was set back',
    given: async (world) => {
      await world.call('admin', 'POST', '/signing-key/rotate');
      world.setNow('2025-01-01T00:00:00.000Z');
    },
    as: 'admin',
    request: {},
    expect: rotated,
    wrote: { signing_keys: 1 },
    afterwards: async (world, _, { body }) => {
      expect((await keysOf(world))[0]?.kid).toBe(body.data.kid);
    },
  },
  {
    name: 'leaves the keys of other accounts alone',
    as: 'other admin',
    request: {},
    expect: rotated,
    wrote: { signing_keys: 1 },
    afterwards: async (world) => {
      expect(await keysOf(world)).toHaveLength(1);
    },
  },
  {
    name: 'makes one key under one idempotency key, however often it is asked',
    as: 'admin',
    request: { headers: { 'Idempotency-Key': 'once' } },
    expect: rotated,
    wrote: { signing_keys: 1, idempotency: 1 },
    afterwards: async (world, _, { text }) => {
      const again = await world.call('admin', 'POST', '/signing-key/rotate', undefined, { 'Idempotency-Key': 'once' });
      expect([again.text, again.headers['idempotency-replayed']]).toEqual([text, 'true']);
      expect(await keysOf(world)).toHaveLength(2);
    },
  },
  {
    name: 'refuses an admin token that is limited to a product',
    as: { kind: 'admin', productIds: ['prod_00000000000000000000000000'] },
    request: {},
    expect: forbidden,
  },
  { name: 'refuses a scoped token that may sign', as: { scopes: ['license:sign'] }, request: {}, expect: forbidden },
  { name: 'refuses a token that may only read', as: 'read-only', request: {}, expect: forbidden },
  { name: 'refuses a token of kind client', as: 'client', request: {}, expect: forbidden },
]);

it('has new files signed by the new key, and the old ones go on verifying', async () => {
  await using world = await createWorld();
  const { productId, licenseKey } = await furnish(world);
  const sign = async (hostId: string): Promise<string> =>
    (await world.call('admin', 'POST', '/key/sign', { productId, licenseKey, hostId, ttl: 60 })).body.file;
  const before = await sign('host-1');
  const embedded = await keysOf(world);
  const { kid } = (await world.call('admin', 'POST', '/signing-key/rotate')).body.data;
  const after = await sign('host-1');
  expect([JSON.parse(before).keyId, JSON.parse(after).keyId]).toEqual([embedded[0]?.kid, kid]);
  const keys = await keysOf(world);
  const verdicts = [before, after].map((file) => verifyLicenseFile(file, { keys, now: STARTED_AT }).verdict);
  expect(verdicts).toEqual(['ok', 'ok']);
  expect(verifyLicenseFile(after, { keys: embedded, now: STARTED_AT }).verdict).toBe('unknown_kid');
});
