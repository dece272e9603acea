import { expect } from 'vitest';
import { scopes } from '../../src/contract/scopes.ts';
import { scenarios } from '../support/scenario.ts';
import { type Answer, type As, type Rights, STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  readonly productId: string;
  readonly otherProductId: string;
  /** A token that may read licences and customers until noon. */
  readonly reader: { readonly id: string; readonly token: string };
}

/** When a token ends of which nothing else is said. */
const IN_90_DAYS = '2027-02-19T10:00:00.000Z';
const NOON = '2026-11-21T12:00:00.000Z';
const TOKEN = /^lkm_(admin|read-only|client|scoped)_[0-9a-hjkmnp-tv-z]{59}$/;

async function prepare(world: World): Promise<Subject> {
  const answer = await world.call('admin', 'POST', '/token', {
    name: 'reader',
    kind: 'scoped',
    scopes: ['customer:read', 'license:read'],
    expiresAt: '2026-11-21T14:00:00+02:00',
  });
  return {
    productId: (await world.product()).id,
    otherProductId: (await world.product('Viewer')).id,
    reader: answer.body.data,
  };
}

const showReader = ({ reader }: Subject) => ({
  id: reader.id,
  name: 'reader',
  kind: 'scoped',
  scopes: ['license:read', 'customer:read'],
  productIds: null,
  networks: null,
  maxIssues: null,
  issued: null,
  rateLimit: null,
  expiresAt: NOON,
  revokedAt: null,
  lastUsedOn: null,
  createdAt: STARTED_AT,
});

const missing = { status: 400, code: 1, message: 'Missing required params' };
const invalidToken = { status: 401, code: 1, message: 'Invalid access token' };
const scopeMissing = { status: 403, code: 1, message: 'Insufficient permissions for this operation' };
const notFound = { status: 404, code: 1, message: 'Token not found' };

scenarios<Subject>('tokens.list', prepare, [
  {
    name: 'lists all tokens, oldest first, without their secrets',
    as: 'admin',
    request: {},
    expect: {
      status: 200,
      body: (subject: Subject) => ({
        action: 'tokens.list',
        status: true,
        data: expect.arrayContaining([
          showReader(subject),
          {
            ...showReader(subject),
            id: expect.stringMatching(/^tok_/),
            name: 'made by the test',
            kind: 'admin',
            scopes,
            expiresAt: null,
          },
        ]),
        code: 0,
      }),
    },
    absent: ({ reader }) => [reader.token, reader.token.slice(-20), 'hash'],
    afterwards: async (_world, _subject, { body }) => {
      const ids = body.data.map(({ id }: { id: string }) => id);
      expect(ids).toEqual([...ids].sort());
    },
  },
  {
    name: 'lists revoked tokens too',
    given: async (world, { reader }) => {
      await world.call('admin', 'DELETE', `/token/by-id?tokenId=${reader.id}`);
    },
    as: 'admin',
    request: {},
    expect: {
      status: 200,
      body: (subject: Subject) => ({
        action: 'tokens.list',
        status: true,
        data: expect.arrayContaining([{ ...showReader(subject), revokedAt: STARTED_AT }]),
        code: 0,
      }),
    },
  },
  {
    name: 'gives one page, and says where it stands',
    as: 'admin',
    request: { query: { limit: '1' } },
    expect: {
      status: 200,
      body: {
        action: 'tokens.list',
        status: true,
        data: [expect.objectContaining({ createdAt: STARTED_AT })],
        meta: { total: 2, page: 1, limit: 1, totalPages: 2 },
        code: 0,
      },
    },
  },
  { name: 'refuses a page before the first', as: 'admin', request: { query: { page: '0' } }, expect: missing },
  { name: 'refuses a caller that may only read', as: 'read-only', request: {}, expect: scopeMissing },
]);

const created = (fields: Readonly<Record<string, unknown>>) => ({
  status: 201,
  body: {
    action: 'tokens.create',
    status: true,
    data: {
      id: expect.stringMatching(/^tok_[0-9a-z]{26}$/),
      name: 'new',
      productIds: null,
      networks: null,
      maxIssues: null,
      issued: null,
      rateLimit: null,
      expiresAt: IN_90_DAYS,
      revokedAt: null,
      lastUsedOn: null,
      createdAt: STARTED_AT,
      token: expect.stringMatching(TOKEN),
      ...fields,
    },
    code: 0,
  },
});

/** Whoever holds the new token is let in, and is shown as what the answer said. */
async function worksAtOnce(world: World, _: Subject, { body }: Answer): Promise<void> {
  const { token, ...rest } = body.data;
  expect((await world.call({ token }, 'GET', '/token/self')).body.data).toEqual(rest);
}

const clientScopes = ['license:read', 'license:activate', 'license:sign'];

const readOnlyScopes = ['license:read', 'customer:read', 'product:read', 'event:read', 'webhook:read', 'audit:read'];

/** A token of these rights that may make tokens. */
const minter = (rights: Rights): As => ({ ...rights, scopes: ['token:write', ...(rights.scopes ?? [])] });

scenarios<Subject>('tokens.create', prepare, [
  {
    name: 'creates an admin token, which works at once',
    as: 'admin',
    request: { body: { name: 'new', kind: 'admin' } },
    expect: created({ kind: 'admin', scopes, token: expect.stringMatching(/^lkm_admin_/) }),
    wrote: { tokens: 1 },
    afterwards: worksAtOnce,
  },
  {
    name: 'creates a read-only token',
    as: 'admin',
    request: { body: { name: 'new', kind: 'read-only' } },
    expect: created({ kind: 'read-only', scopes: readOnlyScopes, token: expect.stringMatching(/^lkm_read-only_/) }),
    wrote: { tokens: 1 },
    afterwards: worksAtOnce,
  },
  {
    name: 'creates a client token',
    as: 'admin',
    request: { body: { name: 'new', kind: 'client' } },
    expect: created({ kind: 'client', scopes: clientScopes, token: expect.stringMatching(/^lkm_client_/) }),
    wrote: { tokens: 1 },
    afterwards: worksAtOnce,
  },
  {
    name: 'creates a scoped token, each of whose scopes counts once',
    as: 'admin',
    request: { body: { name: 'new', kind: 'scoped', scopes: ['product:read', 'license:read', 'product:read'] } },
    expect: created({ kind: 'scoped', scopes: ['license:read', 'product:read'] }),
    wrote: { tokens: 1 },
    afterwards: worksAtOnce,
  },
  {
    name: 'keeps limits: products, number of keys, expiry',
    as: 'admin',
    request: ({ productId }) => ({
      body: { name: 'new', kind: 'admin', productIds: [productId], maxIssues: 3, expiresAt: NOON },
    }),
    expect: {
      status: 201,
      body: ({ productId }: Subject) =>
        created({ kind: 'admin', scopes, productIds: [productId], maxIssues: 3, issued: 0, expiresAt: NOON }).body,
    },
    wrote: { tokens: 1 },
    afterwards: worksAtOnce,
  },
  {
    name: 'keeps nothing of the secret but its hash',
    as: 'admin',
    request: { body: { name: 'new', kind: 'client' } },
    expect: created({ kind: 'client', scopes: clientScopes }),
    wrote: { tokens: 1 },
    afterwards: async (world, _, { body }) => {
      const secret = body.data.token.slice('lkm_client_'.length);
      expect(JSON.stringify(await world.contents())).not.toContain(secret.slice(0, 20));
    },
  },
  {
    name: 'lets a token create one of the scopes it has',
    as: minter({ scopes: ['license:read'] }),
    request: { body: { name: 'new', kind: 'scoped', scopes: ['license:read'] } },
    expect: created({ kind: 'scoped', scopes: ['license:read'] }),
    wrote: { tokens: 1 },
  },
  {
    name: 'refuses to create a token of a scope that its maker has not',
    as: minter({ scopes: ['license:read'] }),
    request: { body: { name: 'new', kind: 'scoped', scopes: ['license:read', 'license:reveal'] } },
    expect: scopeMissing,
  },
  {
    name: 'refuses to create an admin token for a maker that is none',
    as: minter({ scopes: ['license:write', 'token:read'] }),
    request: { body: { name: 'new', kind: 'admin' } },
    expect: scopeMissing,
  },
  {
    name: 'refuses to create a token for a product that its maker may not touch',
    as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
    request: ({ otherProductId }) => ({ body: { name: 'new', kind: 'client', productIds: [otherProductId] } }),
    expect: scopeMissing,
  },
  {
    name: 'refuses to create a token for all products for a maker that may touch some',
    as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
    request: { body: { name: 'new', kind: 'client' } },
    expect: scopeMissing,
  },
  {
    name: 'lets a maker that may touch some products create a token for these',
    as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
    request: ({ productId }) => ({ body: { name: 'new', kind: 'client', productIds: [productId] } }),
    expect: {
      status: 201,
      body: ({ productId }: Subject) => created({ kind: 'client', scopes: clientScopes, productIds: [productId] }).body,
    },
    wrote: { tokens: 1 },
  },
  {
    name: 'refuses to pass on the right to issue keys when its maker may issue only so many',
    as: { kind: 'admin', maxIssues: 5 },
    request: { body: { name: 'new', kind: 'scoped', scopes: ['license:write'], maxIssues: 1 } },
    expect: scopeMissing,
  },
  {
    name: 'refuses to create a token that outlives its maker',
    as: { kind: 'admin', expiresAt: NOON },
    request: { body: { name: 'new', kind: 'client', expiresAt: '2026-11-21T12:00:00.001Z' } },
    expect: scopeMissing,
  },
  {
    name: 'refuses to create a token without an end for a maker that has one',
    as: { kind: 'admin', expiresAt: NOON },
    request: { body: { name: 'new', kind: 'client', expiresAt: null } },
    expect: scopeMissing,
  },
  {
    name: 'lets a token of which no end is said end with its maker, if that ends within 90 days',
    as: { kind: 'admin', expiresAt: NOON },
    request: { body: { name: 'new', kind: 'client' } },
    expect: created({ kind: 'client', scopes: clientScopes, expiresAt: NOON }),
    wrote: { tokens: 1 },
  },
  {
    name: 'creates a token without an end for a maker that has none, when that is said',
    as: 'admin',
    request: { body: { name: 'new', kind: 'client', expiresAt: null } },
    expect: created({ kind: 'client', scopes: clientScopes, expiresAt: null }),
    wrote: { tokens: 1 },
    afterwards: worksAtOnce,
  },
  {
    name: 'keeps networks and a rate limit, each network once',
    as: 'admin',
    request: {
      body: {
        name: 'new',
        kind: 'client',
        networks: ['203.0.113.0/24', '2001:db8::1', '203.0.113.0/24'],
        rateLimit: 60,
      },
    },
    expect: created({
      kind: 'client',
      scopes: clientScopes,
      networks: ['203.0.113.0/24', '2001:db8::1'],
      rateLimit: 60,
    }),
    wrote: { tokens: 1 },
    afterwards: worksAtOnce,
  },
  ...['10.0.0.0/33', '10.1/16', '300.0.0.1', '::/129', '::ffff:10.0.0.0/104', 'localhost', '10.0.0.1/'].map(
    (network) => ({
      name: `refuses the network ${network}`,
      as: 'admin' as const,
      request: { body: { name: 'new', kind: 'client', networks: [network] } },
      expect: missing,
    }),
  ),
  {
    name: 'refuses a maker that is limited to networks to leave them out',
    as: { kind: 'admin', networks: ['203.0.113.0/24'] },
    request: { body: { name: 'new', kind: 'client' } },
    expect: scopeMissing,
  },
  {
    name: 'gives the rate limit of its maker to a token of which none is said',
    as: { kind: 'admin', rateLimit: 60 },
    request: { body: { name: 'new', kind: 'client' } },
    expect: created({ kind: 'client', scopes: clientScopes, rateLimit: 60 }),
    wrote: { tokens: 1 },
  },
  {
    name: 'refuses to create an admin for a token that holds every scope and is none',
    as: { scopes },
    request: { body: { name: 'new', kind: 'admin' } },
    expect: scopeMissing,
  },
  {
    name: 'lets a maker that has an end create a token with the same one',
    as: { kind: 'admin', expiresAt: NOON },
    request: { body: { name: 'new', kind: 'client', expiresAt: NOON } },
    expect: created({ kind: 'client', scopes: clientScopes, expiresAt: NOON }),
    wrote: { tokens: 1 },
  },
  {
    name: 'refuses a product that is not there',
    as: 'admin',
    request: { body: { name: 'new', kind: 'client', productIds: ['prod_00000000000000000000000000'] } },
    expect: { status: 404, code: 1, message: 'Product not found' },
  },
  {
    name: 'refuses a kind it does not know',
    as: 'admin',
    request: { body: { name: 'new', kind: 'owner' } },
    expect: missing,
  },
  {
    name: 'refuses kind scoped without scopes',
    as: 'admin',
    request: { body: { name: 'new', kind: 'scoped' } },
    expect: missing,
  },
  {
    name: 'refuses scopes with any other kind',
    as: 'admin',
    request: { body: { name: 'new', kind: 'read-only', scopes: ['license:read'] } },
    expect: missing,
  },
  {
    name: 'refuses a scope it does not know',
    as: 'admin',
    request: { body: { name: 'new', kind: 'scoped', scopes: ['license:*'] } },
    expect: missing,
  },
  {
    name: 'refuses a list of no products',
    as: 'admin',
    request: { body: { name: 'new', kind: 'client', productIds: [] } },
    expect: missing,
  },
  ...[STARTED_AT, '2026-11-21T11:59:59+02:00'].map((expiresAt) => ({
    name: `refuses a token that would be dead at birth: ${expiresAt}`,
    as: 'admin' as const,
    request: { body: { name: 'new', kind: 'client', expiresAt } },
    expect: missing,
  })),
  {
    name: 'keeps each product once',
    as: 'admin',
    request: ({ productId }) => ({ body: { name: 'new', kind: 'client', productIds: [productId, productId] } }),
    expect: {
      status: 201,
      body: ({ productId }: Subject) => created({ kind: 'client', scopes: clientScopes, productIds: [productId] }).body,
    },
    wrote: { tokens: 1 },
    afterwards: worksAtOnce,
  },
  {
    name: 'refuses a maxIssues of 0',
    as: 'admin',
    request: { body: { name: 'new', kind: 'admin', maxIssues: 0 } },
    expect: missing,
  },
]);

const lastAdmin = { status: 409, code: 11, message: 'This is the last admin token of the account' };

const secondAdmin: As = { kind: 'admin', expiresAt: '2027-11-21T10:00:00.000Z' };

/** The token of an admin, as the subject of a row. */
async function adminOf(world: World, as: As = 'admin'): Promise<Subject['reader']> {
  const { id } = (await world.call(as, 'GET', '/token/self')).body.data;
  return { id, token: (await world.tokenOf(as)) ?? '' };
}

const revoked = { status: 200, body: { action: 'tokens.revoke', status: true, code: 0 } };

scenarios<Subject>('tokens.revoke', prepare, [
  {
    name: 'revokes a token, whose very next request is refused',
    given: async (world, { reader }) => {
      expect((await world.call(reader, 'GET', '/customer')).status).toBe(200);
    },
    as: 'admin',
    request: ({ reader }) => ({ query: { tokenId: reader.id } }),
    expect: revoked,
    wrote: {},
    afterwards: async (world, { reader }) => {
      const { status, body } = await world.call(reader, 'GET', '/customer');
      expect({ status, body }).toEqual({ status: 401, body: { message: 'Invalid access token', code: 1 } });
    },
  },
  {
    name: 'keeps the first instant of a token that is revoked twice',
    given: async (world, { reader }) => {
      await world.call('admin', 'DELETE', `/token/by-id?tokenId=${reader.id}`);
    },
    at: '2026-11-21T11:00:00.000Z',
    as: { scopes: ['token:write', 'license:read', 'customer:read'] },
    request: ({ reader }) => ({ query: { tokenId: reader.id } }),
    expect: revoked,
    afterwards: async (world, subject) => {
      const { data } = (await world.call('admin', 'GET', '/token')).body;
      expect(data).toContainEqual({ ...showReader(subject), revokedAt: STARTED_AT });
      await world.sequence();
      const events = (await world.call('admin', 'GET', '/event/list?type=token.revoked')).body.data;
      expect(events).toHaveLength(1);
    },
  },
  {
    name: 'refuses to revoke the last admin token',
    given: async (world) => ({ reader: await adminOf(world) }),
    as: 'admin',
    request: ({ reader }) => ({ query: { tokenId: reader.id } }),
    expect: lastAdmin,
  },
  {
    name: 'refuses to revoke the last admin token with force=false',
    given: async (world) => ({ reader: await adminOf(world) }),
    as: 'admin',
    request: ({ reader }) => ({ query: { tokenId: reader.id, force: 'false' } }),
    expect: lastAdmin,
  },
  ...[
    { scopes: ['token:write'] },
    { scopes: ['token:write', 'license:read'] },
    { kind: 'admin', maxIssues: 5, scopes: [] },
  ].map((rights) => ({
    name: `refuses ${JSON.stringify(rights)} to revoke a token that may do more`,
    given: async (world: World) => ({ reader: await adminOf(world, secondAdmin) }),
    as: rights as As,
    request: ({ reader }: Subject) => ({ query: { tokenId: reader.id } }),
    expect: scopeMissing,
  })),
  {
    name: 'lets a token revoke itself, whatever it may do besides',
    given: async (world) => ({ reader: await adminOf(world, { scopes: ['token:write'], maxIssues: 3 }) }),
    as: ({ reader }) => reader,
    request: ({ reader }) => ({ query: { tokenId: reader.id } }),
    expect: revoked,
    wrote: {},
  },
  {
    name: 'does not know a token of other products',
    given: async (world, { otherProductId }) => ({
      reader: await adminOf(world, { kind: 'admin', productIds: [otherProductId] }),
    }),
    as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
    request: ({ reader }) => ({ query: { tokenId: reader.id } }),
    expect: notFound,
  },
  {
    name: 'counts no admin that has expired, was revoked, is of another account or may not do everything',
    given: async (world, { productId }) => {
      const others: As[] = [
        { kind: 'admin', expiresAt: NOON },
        { kind: 'admin', productIds: [productId] },
        { kind: 'admin', maxIssues: 1 },
        { kind: 'admin', expiresAt: '2026-11-22T00:00:00.000Z' },
        'other admin',
        { kind: 'admin', networks: ['203.0.113.7'] },
      ];
      const ids = [];
      for (const other of others) ids.push((await adminOf(world, other)).id);
      await world.call('admin', 'DELETE', `/token/by-id?tokenId=${ids[3]}`);
      return { reader: await adminOf(world) };
    },
    at: NOON,
    as: 'admin',
    request: ({ reader }) => ({ query: { tokenId: reader.id } }),
    expect: lastAdmin,
  },
  {
    name: 'revokes the last admin token with force',
    given: async (world) => ({ reader: await adminOf(world) }),
    as: 'admin',
    request: ({ reader }) => ({ query: { tokenId: reader.id, force: 'true' } }),
    expect: revoked,
    wrote: {},
    afterwards: async (world) => {
      expect((await world.call('admin', 'GET', '/token/self')).status).toBe(401);
    },
  },
  {
    name: 'revokes an admin token while another one stays',
    given: async (world) => ({ reader: await adminOf(world, secondAdmin) }),
    as: 'admin',
    request: ({ reader }) => ({ query: { tokenId: reader.id } }),
    expect: revoked,
    wrote: {},
  },
  {
    name: 'has nothing against revoking an admin token again, or one that has expired',
    given: async (world) => {
      const reader = await adminOf(world, { kind: 'admin', expiresAt: NOON });
      await world.call('admin', 'DELETE', `/token/by-id?tokenId=${reader.id}`);
      return { reader };
    },
    at: NOON,
    as: 'admin',
    request: ({ reader }) => ({ query: { tokenId: reader.id } }),
    expect: revoked,
  },
  {
    name: 'refuses a force that is neither true nor false',
    as: 'admin',
    request: ({ reader }) => ({ query: { tokenId: reader.id, force: 'yes' } }),
    expect: missing,
  },
  {
    name: 'refuses a token that is not there',
    as: 'admin',
    request: { query: { tokenId: 'tok_absent' } },
    expect: notFound,
  },
]);

scenarios<Subject>('tokens.self', prepare, [
  {
    name: 'shows the token that asks, without its secret',
    as: ({ reader }) => reader,
    request: {},
    expect: {
      status: 200,
      body: (subject: Subject) => ({ action: 'tokens.self', status: true, data: showReader(subject), code: 0 }),
    },
    absent: ({ reader }) => [reader.token.slice(-20)],
  },
  {
    name: 'counts the keys of a token that may issue only so many',
    given: async (world, { productId }) => {
      await world.call({ kind: 'admin', maxIssues: 3 }, 'POST', '/create-key', { productId });
    },
    as: { kind: 'admin', maxIssues: 3 },
    request: {},
    expect: {
      status: 200,
      body: {
        action: 'tokens.self',
        status: true,
        data: {
          id: expect.stringMatching(/^tok_/),
          name: 'made by the test',
          kind: 'admin',
          scopes,
          productIds: null,
          networks: null,
          maxIssues: 3,
          issued: 1,
          rateLimit: null,
          expiresAt: null,
          revokedAt: null,
          lastUsedOn: null,
          createdAt: STARTED_AT,
        },
        code: 0,
      },
    },
  },
  {
    name: 'lets a token in up to the last millisecond before it expires',
    at: '2026-11-21T11:59:59.999Z',
    as: ({ reader }) => reader,
    request: {},
    expect: {
      status: 200,
      body: (subject: Subject) => ({ action: 'tokens.self', status: true, data: showReader(subject), code: 0 }),
    },
  },
  {
    name: 'refuses a token from the instant it expires on',
    at: NOON,
    as: ({ reader }) => reader,
    request: {},
    expect: invalidToken,
  },
]);
