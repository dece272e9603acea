import { expect } from 'vitest';
import type { Jwk } from '../../src/contract/signing-keys.ts';
import { verifyLicenseFile } from '../../src/domain/license-file/verify.ts';
import { privatePems, publicPemOf } from '../domain/examples.ts';
import { test as it } from '../support/fixtures.ts';
import { allRecorded } from '../support/recorded.ts';
import { furnish } from '../support/requests.ts';
import { answers, row, scenarios } from '../support/scenario.ts';
import { acted } from '../support/shop.ts';
import { STARTED_AT, type World } from '../support/world.ts';

const jwk = (kid: string, x: string) => ({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x });

/** The public keys of RFC 8032 §7.1, tests 1 and 2: acme signs with the first, the other account with the second. */
const jwkOfAcme = jwk('BuP9j9opu2CrWVV95h7bCuzbIxE0vjDnW0Vfjht5L6k', '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo');
const jwkOfOther = jwk('3rLe053Cb84OYIW2_DS_a1lBkTu_4uphQRPP-eAEwXA', 'PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw');

const keyOfAcme = {
  kid: jwkOfAcme.kid,
  fingerprint: 'sha256:06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9',
  current: true,
  publicKey: publicPemOf(privatePems[0]),
  jwk: jwkOfAcme,
  createdAt: STARTED_AT,
};

const newKey = {
  kid: expect.stringMatching(/^[\w-]{43}$/),
  fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
  current: true,
  publicKey: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----\n/),
  jwk: expect.objectContaining({ kty: 'OKP', crv: 'Ed25519' }),
};

const lists = (...data: readonly unknown[]) => answers(acted('signingKeys.list', data));

const privateHalves = ['PRIVATE', '"d"'];

const PATH = '/.well-known/jwks.json';

const keysOf = async (world: World): Promise<Jwk[]> => (await world.call('nobody', 'GET', PATH)).body.keys;

const rotate = (world: World) => world.call('admin', 'POST', '/signing-key/rotate');

scenarios('signingKeys.list', { given: async () => ({}) }, [
  row('shows the keys of the account by their public halves', lists(keyOfAcme), {
    as: 'read-only',
    absent: privateHalves,
  }),
  row(
    'shows them newest first, of which the first one signs',
    lists({ ...newKey, createdAt: '2026-11-22T10:00:00.000Z' }, { ...keyOfAcme, current: false }),
    {
      given: async (world) => {
        world.setNow('2026-11-22T10:00:00.000Z');
        await rotate(world);
      },
      absent: privateHalves,
    },
  ),
]);

const rotated = answers(
  acted('signingKeys.rotate', { ...newKey, createdAt: expect.stringMatching(/^2026-11-21T10:00:00\.00\dZ$/) }),
);

scenarios('signingKeys.rotate', { given: async () => ({}), wrote: { signing_keys: 1 } }, [
  row('makes a new key, and records it', rotated, {
    absent: privateHalves,
    afterwards: async (world, _subject, { body }) => {
      const { kid } = body.data;
      const data = { kid, previousKid: jwkOfAcme.kid };
      expect((await allRecorded(world)).at(-1)?.events).toMatchObject([{ type: 'signing_key.rotated', data }]);
      expect((await keysOf(world)).map((key) => key.kid)).toEqual([kid, jwkOfAcme.kid]);
    },
  }),
  row('makes a key that signs, though the clock was set back', rotated, {
    given: async (world) => {
      await rotate(world);
      world.setNow('2025-01-01T00:00:00.000Z');
    },
    afterwards: async (world, _subject, { body }) => expect((await keysOf(world))[0]?.kid).toBe(body.data.kid),
  }),
  row('refuses an admin token that is limited to a product', 'scopeMissing', {
    as: { kind: 'admin', productIds: ['prod_00000000000000000000000000'] },
  }),
]);

const publishes = (...keys: readonly unknown[]) => ({ body: { keys } });

scenarios<World['accounts']>('signingKeys.jwks', { given: async (world) => world.accounts, as: 'nobody' }, [
  row('shows anybody the public keys of the oldest account', publishes(jwkOfAcme), { absent: privateHalves }),
  row('shows those of the account that is named', publishes(jwkOfOther), { send: ({ other }) => ({ account: other }) }),
  row('refuses an account that is not there', 'accountNotFound', {
    send: { account: 'acc_00000000000000000000000000' },
  }),
]);

it('has new files signed by the new key, and the old ones go on verifying', async ({ world }) => {
  const { productId, licenseKey } = await furnish(world);
  const sign = async (hostId: string): Promise<string> =>
    (await world.call('admin', 'POST', '/key/sign', { productId, licenseKey, hostId, ttl: 60 })).body.file;
  const before = await sign('host-1');
  const embedded = await keysOf(world);
  const { kid } = (await rotate(world)).body.data;
  const after = await sign('host-1');
  expect([JSON.parse(before).keyId, JSON.parse(after).keyId]).toEqual([embedded[0]?.kid, kid]);
  const keys = await keysOf(world);
  const verdicts = [before, after].map((file) => verifyLicenseFile(file, { keys, now: STARTED_AT }).verdict);
  expect(verdicts).toEqual(['ok', 'ok']);
  expect(verifyLicenseFile(after, { keys: embedded, now: STARTED_AT }).verdict).toBe('unknown_kid');
});

it('says how long its keys may be kept, and afterwards only whether they are still the same', async ({ world }) => {
  const askedWith = (known: string) => world.call('nobody', 'GET', PATH, undefined, { 'If-None-Match': known });
  const { headers, text } = await world.call('nobody', 'GET', PATH);
  const etag = headers.etag ?? '';
  expect(headers).toMatchObject({
    'cache-control': 'public, max-age=300',
    etag: expect.stringMatching(/^"[\w-]{43}"$/),
  });
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const same = await askedWith(known);
    expect([same.status, same.text, same.headers.etag]).toEqual([304, '', etag]);
    expect(same.headers).not.toHaveProperty('content-type');
  }
  expect((await askedWith('"other"')).text).toBe(text);

  await rotate(world);
  const changed = await askedWith(etag);
  expect([changed.status, changed.body.keys.length]).toEqual([200, 2]);
  expect(changed.headers.etag).not.toBe(etag);
});
