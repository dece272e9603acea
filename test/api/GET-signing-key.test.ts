import { expect } from 'vitest';
import { privatePems, publicPemOf } from '../domain/examples.ts';
import { scenarios } from '../support/scenario.ts';

/** The signing key of acme. */
const keyOfAcme = {
  kid: 'BuP9j9opu2CrWVV95h7bCuzbIxE0vjDnW0Vfjht5L6k',
  fingerprint: 'sha256:06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9',
  current: true,
  publicKey: publicPemOf(privatePems[0]),
  jwk: {
    kty: 'OKP',
    crv: 'Ed25519',
    alg: 'EdDSA',
    use: 'sig',
    kid: 'BuP9j9opu2CrWVV95h7bCuzbIxE0vjDnW0Vfjht5L6k',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  },
  createdAt: '2026-11-21T10:00:00.000Z',
};

const listOf = (data: readonly unknown[], meta?: object) => ({
  status: 200,
  body: { action: 'signingKeys.list', status: true, data, ...(meta && { meta }), code: 0 },
});

scenarios('signingKeys.list', async () => ({}), [
  {
    name: 'shows the keys of the account by their public halves',
    as: 'read-only',
    request: {},
    expect: listOf([keyOfAcme]),
    absent: () => ['PRIVATE', '"d"'],
  },
  {
    name: 'shows them newest first, of which the first one signs',
    given: async (world) => {
      world.setNow('2026-11-22T10:00:00.000Z');
      await world.call('admin', 'POST', '/signing-key/rotate');
    },
    as: 'admin',
    request: {},
    expect: listOf([
      {
        kid: expect.stringMatching(/^[\w-]{43}$/),
        fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        current: true,
        publicKey: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----\n/),
        jwk: expect.objectContaining({ kty: 'OKP', crv: 'Ed25519' }),
        createdAt: '2026-11-22T10:00:00.000Z',
      },
      { ...keyOfAcme, current: false },
    ]),
    absent: () => ['PRIVATE', '"d"'],
  },
  {
    name: 'shows a page of them',
    given: async (world) => {
      await world.call('admin', 'POST', '/signing-key/rotate');
    },
    as: 'admin',
    request: { query: { page: '2', limit: '1' } },
    expect: listOf([{ ...keyOfAcme, current: false }], { total: 2, page: 2, limit: 1, totalPages: 2 }),
  },
  {
    name: 'shows the other account its own',
    as: 'other admin',
    request: {},
    expect: listOf([expect.objectContaining({ kid: '3rLe053Cb84OYIW2_DS_a1lBkTu_4uphQRPP-eAEwXA' })]),
    absent: () => [keyOfAcme.kid],
  },
  {
    name: 'refuses a page that is none',
    as: 'admin',
    request: { query: { page: '0' } },
    expect: { status: 400, code: 1, message: 'Missing required params' },
  },
]);
