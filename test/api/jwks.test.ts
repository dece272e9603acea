import { expect, it } from 'vitest';
import { privatePems, publicPemOf } from '../domain/examples.ts';
import { furnish } from '../support/requests.ts';
import { scenarios } from '../support/scenario.ts';
import { createWorld, type World } from '../support/world.ts';

interface Subject {
  readonly acme: string;
  readonly other: string;
}

/** The public keys of RFC 8032 §7.1, tests 1 and 2: acme signs with the first, the other account with the second. */
const jwkOfAcme = {
  kty: 'OKP',
  crv: 'Ed25519',
  alg: 'EdDSA',
  use: 'sig',
  kid: 'BuP9j9opu2CrWVV95h7bCuzbIxE0vjDnW0Vfjht5L6k',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
};
const jwkOfOther = {
  kty: 'OKP',
  crv: 'Ed25519',
  alg: 'EdDSA',
  use: 'sig',
  kid: '3rLe053Cb84OYIW2_DS_a1lBkTu_4uphQRPP-eAEwXA',
  x: 'PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw',
};

const keysOf = (...keys: readonly unknown[]) => ({ status: 200, body: { keys } });

async function rotate(world: World, account: 'acme' | 'other', privatePem: string, kid: string): Promise<void> {
  const pem = { privatePem, publicPem: publicPemOf(privatePem) };
  await world.sql(`insert into signing_keys (account_id, kid, private_pem, public_pem, created_at)
    values ('${world.accounts[account]}', '${kid}', '${pem.privatePem}', '${pem.publicPem}', '2026-11-21T11:00:00.000Z')`);
}

scenarios<Subject>('signingKeys.jwks', async (world) => world.accounts, [
  {
    name: 'shows anybody the public keys of the oldest account',
    as: 'nobody',
    request: {},
    expect: keysOf(jwkOfAcme),
    absent: () => ['PRIVATE', '"d"'],
  },
  {
    name: 'shows those of the account that is named',
    as: 'nobody',
    request: ({ other }) => ({ query: { account: other } }),
    expect: keysOf(jwkOfOther),
  },
  {
    name: 'shows the same whoever asks',
    as: 'other admin',
    request: {},
    expect: keysOf(jwkOfAcme),
  },
  {
    name: 'shows them to a caller whose token is worth nothing',
    as: { token: 'lkm_admin_nonsense' },
    request: {},
    expect: keysOf(jwkOfAcme),
  },
  {
    name: 'shows all keys of an account, newest first, of which the first is the one that signs now',
    given: (world) => rotate(world, 'other', privatePems[0], jwkOfAcme.kid),
    as: 'nobody',
    request: ({ other }) => ({ query: { account: other } }),
    expect: keysOf(jwkOfAcme, jwkOfOther),
    afterwards: async (world) => {
      const { productId, licenseKey } = await furnish(world, 'other admin');
      const signed = await world.call('other admin', 'POST', '/key/sign', { productId, licenseKey, hostId: 'host-1' });
      expect(JSON.parse(signed.body.file).keyId).toBe(jwkOfAcme.kid);
    },
  },
  {
    name: 'refuses an account that is not there',
    as: 'nobody',
    request: { query: { account: 'acc_00000000000000000000000000' } },
    expect: { status: 404, code: 1, message: 'Account not found' },
  },
  {
    name: 'refuses an account that is empty',
    as: 'nobody',
    request: { query: { account: '' } },
    expect: { status: 400, code: 1, message: 'Missing required params' },
  },
]);

it('says how long its keys may be kept, and afterwards only whether they are still the same', async () => {
  await using world = await createWorld();
  const path = '/.well-known/jwks.json';
  const { headers, text } = await world.call('nobody', 'GET', path);
  const etag = headers.etag ?? '';
  expect(headers).toMatchObject({
    'cache-control': 'public, max-age=300',
    etag: expect.stringMatching(/^"[\w-]{43}"$/),
  });
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const same = await world.call('nobody', 'GET', path, undefined, { 'If-None-Match': known });
    expect([same.status, same.text, same.headers.etag, same.headers['content-type']]).toEqual([
      304,
      '',
      etag,
      undefined,
    ]);
  }
  expect((await world.call('nobody', 'GET', path, undefined, { 'If-None-Match': '"other"' })).text).toBe(text);

  await rotate(world, 'acme', privatePems[1], 'second');
  // The service sees what another process wrote from its own next commit on.
  await world.tokenOf('admin');
  const changed = await world.call('nobody', 'GET', path, undefined, { 'If-None-Match': etag });
  expect([changed.status, changed.body.keys.length]).toEqual([200, 2]);
  expect(changed.headers.etag).not.toBe(etag);
});
