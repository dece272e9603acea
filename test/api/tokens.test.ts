import { expect } from 'vitest';
import { scopes } from '../../src/contract/scopes.ts';
import { answers, refuses, row, scenarios } from '../support/scenario.ts';
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

scenarios<Subject>('tokens.list', { given: prepare }, [
  row(
    'lists all tokens, oldest first, without their secrets',
    answers((subject: Subject) => ({
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
    })),
    {
      absent: ({ reader }) => [reader.token, reader.token.slice(-20), 'hash'],
      afterwards: async (_world, _subject, { body }) => {
        const ids = body.data.map(({ id }: { id: string }) => id);
        expect(ids).toEqual([...ids].sort());
      },
    },
  ),
  row(
    'lists revoked tokens too',
    answers((subject: Subject) => ({
      action: 'tokens.list',
      status: true,
      data: expect.arrayContaining([{ ...showReader(subject), revokedAt: STARTED_AT }]),
      code: 0,
    })),
    {
      given: async (world, { reader }) => {
        await world.call('admin', 'DELETE', `/token/by-id?tokenId=${reader.id}`);
      },
    },
  ),
  row(
    'gives one page, and says where it stands',
    answers({
      action: 'tokens.list',
      status: true,
      data: [expect.objectContaining({ createdAt: STARTED_AT })],
      meta: { total: 2, page: 1, limit: 1, totalPages: 2 },
      code: 0,
    }),
    { send: { limit: '1' } },
  ),
]);

const created = (fields: Readonly<Record<string, unknown>>) => ({
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

const createdClient = (fields: object) => created({ kind: 'client', scopes: clientScopes, ...fields });

const readOnlyScopes = ['license:read', 'customer:read', 'product:read', 'event:read', 'webhook:read', 'audit:read'];

/** A token of these rights that may make tokens. */
const minter = (rights: Rights): As => ({ ...rights, scopes: ['token:write', ...(rights.scopes ?? [])] });

scenarios<Subject>(
  'tokens.create',
  { given: prepare, body: () => ({ name: 'new', kind: 'client' }), wrote: { tokens: 1 } },
  [
    row(
      'creates an admin token, which works at once',
      created({ kind: 'admin', scopes, token: expect.stringMatching(/^lkm_admin_/) }),
      { send: { kind: 'admin' }, afterwards: worksAtOnce },
    ),
    row(
      'creates a read-only token',
      created({ kind: 'read-only', scopes: readOnlyScopes, token: expect.stringMatching(/^lkm_read-only_/) }),
      { send: { kind: 'read-only' }, afterwards: worksAtOnce },
    ),
    row('creates a client token', createdClient({ token: expect.stringMatching(/^lkm_client_/) }), {
      afterwards: worksAtOnce,
    }),
    row(
      'creates a scoped token, each of whose scopes counts once',
      created({ kind: 'scoped', scopes: ['license:read', 'product:read'] }),
      { send: { kind: 'scoped', scopes: ['product:read', 'license:read', 'product:read'] }, afterwards: worksAtOnce },
    ),
    row(
      'keeps limits: products, number of keys, expiry',
      answers(
        ({ productId }: Subject) =>
          created({ kind: 'admin', scopes, productIds: [productId], maxIssues: 3, issued: 0, expiresAt: NOON }).body,
      ),
      {
        send: ({ productId }) => ({ kind: 'admin', productIds: [productId], maxIssues: 3, expiresAt: NOON }),
        afterwards: worksAtOnce,
      },
    ),
    row('keeps nothing of the secret but its hash', createdClient({}), {
      afterwards: async (world, _, { body }) => {
        const secret = body.data.token.slice('lkm_client_'.length);
        expect(JSON.stringify(await world.contents())).not.toContain(secret.slice(0, 20));
      },
    }),
    row('lets a token create one of the scopes it has', created({ kind: 'scoped', scopes: ['license:read'] }), {
      send: { kind: 'scoped', scopes: ['license:read'] },
      as: minter({ scopes: ['license:read'] }),
    }),
    row('refuses to create a token of a scope that its maker has not', 'scopeMissing', {
      send: { kind: 'scoped', scopes: ['license:read', 'license:reveal'] },
      as: minter({ scopes: ['license:read'] }),
    }),
    row('refuses to create an admin token for a maker that is none', 'scopeMissing', {
      send: { kind: 'admin' },
      as: minter({ scopes: ['license:write', 'token:read'] }),
    }),
    row('refuses to create a token for a product that its maker may not touch', 'scopeMissing', {
      send: ({ otherProductId }) => ({ productIds: [otherProductId] }),
      as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
    }),
    row('refuses to create a token for all products for a maker that may touch some', 'scopeMissing', {
      as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
    }),
    row(
      'lets a maker that may touch some products create a token for these',
      answers(({ productId }: Subject) => createdClient({ productIds: [productId] }).body),
      {
        send: ({ productId }) => ({ productIds: [productId] }),
        as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
      },
    ),
    row('refuses to pass on the right to issue keys when its maker may issue only so many', 'scopeMissing', {
      send: { kind: 'scoped', scopes: ['license:write'], maxIssues: 1 },
      as: { kind: 'admin', maxIssues: 5 },
    }),
    row('refuses to create a token that outlives its maker', 'scopeMissing', {
      send: { expiresAt: '2026-11-21T12:00:00.001Z' },
      as: { kind: 'admin', expiresAt: NOON },
    }),
    row('refuses to create a token without an end for a maker that has one', 'scopeMissing', {
      send: { expiresAt: null },
      as: { kind: 'admin', expiresAt: NOON },
    }),
    row(
      'lets a token of which no end is said end with its maker, if that ends within 90 days',
      createdClient({ expiresAt: NOON }),
      { as: { kind: 'admin', expiresAt: NOON } },
    ),
    row(
      'creates a token without an end for a maker that has none, when that is said',
      createdClient({ expiresAt: null }),
      { send: { expiresAt: null }, afterwards: worksAtOnce },
    ),
    row(
      'keeps networks and a rate limit, each network once',
      created({
        kind: 'client',
        scopes: clientScopes,
        networks: ['203.0.113.0/24', '2001:db8::1'],
        rateLimit: 60,
      }),
      {
        send: { networks: ['203.0.113.0/24', '2001:db8::1', '203.0.113.0/24'], rateLimit: 60 },
        afterwards: worksAtOnce,
      },
    ),
    ...['10.0.0.0/33', '10.1/16', '300.0.0.1', '::/129', '::ffff:10.0.0.0/104', 'localhost', '10.0.0.1/'].map(
      (network) => row(`refuses the network ${network}`, 'invalidParams', { send: { networks: [network] } }),
    ),
    row('refuses a maker that is limited to networks to leave them out', 'scopeMissing', {
      as: { kind: 'admin', networks: ['203.0.113.0/24'] },
    }),
    row('gives the rate limit of its maker to a token of which none is said', createdClient({ rateLimit: 60 }), {
      as: { kind: 'admin', rateLimit: 60 },
    }),
    row('refuses to create an admin for a token that holds every scope and is none', 'scopeMissing', {
      send: { kind: 'admin' },
      as: { scopes },
    }),
    row('lets a maker that has an end create a token with the same one', createdClient({ expiresAt: NOON }), {
      send: { expiresAt: NOON },
      as: { kind: 'admin', expiresAt: NOON },
    }),
    row('refuses a product that is not there', 'productNotFound', {
      send: { productIds: ['prod_00000000000000000000000000'] },
    }),
    ...refuses('invalidParams', {
      'a kind it does not know': { kind: 'owner' },
      'kind scoped without scopes': { kind: 'scoped' },
      'scopes with any other kind': { kind: 'read-only', scopes: ['license:read'] },
      'a scope it does not know': { kind: 'scoped', scopes: ['license:*'] },
      'a list of no products': { productIds: [] },
      'a maxIssues of 0': { kind: 'admin', maxIssues: 0 },
      'a token that would be dead at birth': { expiresAt: STARTED_AT },
      'one that would be dead before it': { expiresAt: '2026-11-21T11:59:59+02:00' },
    }),
    row(
      'keeps each product once',
      answers(({ productId }: Subject) => createdClient({ productIds: [productId] }).body),
      { send: ({ productId }) => ({ productIds: [productId, productId] }), afterwards: worksAtOnce },
    ),
  ],
);

const secondAdmin: As = { kind: 'admin', expiresAt: '2027-11-21T10:00:00.000Z' };

/** The token of an admin, as the subject of a row. */
async function adminOf(world: World, as: As = 'admin'): Promise<Subject['reader']> {
  const { id } = (await world.call(as, 'GET', '/token/self')).body.data;
  return { id, token: (await world.tokenOf(as)) ?? '' };
}

const revoked = { body: { action: 'tokens.revoke', status: true, code: 0 } };

scenarios<Subject>('tokens.revoke', { given: prepare, query: ({ reader }) => ({ tokenId: reader.id }), wrote: {} }, [
  row('revokes a token, whose very next request is refused', revoked, {
    given: async (world, { reader }) => {
      expect((await world.call(reader, 'GET', '/customer')).status).toBe(200);
    },
    afterwards: async (world, { reader }) => {
      const { status, body } = await world.call(reader, 'GET', '/customer');
      expect({ status, body }).toEqual({ status: 401, body: { message: 'Invalid access token', code: 1 } });
    },
  }),
  row('keeps the first instant of a token that is revoked twice', revoked, {
    given: async (world, { reader }) => {
      await world.call('admin', 'DELETE', `/token/by-id?tokenId=${reader.id}`);
    },
    at: '2026-11-21T11:00:00.000Z',
    as: { scopes: ['token:write', 'license:read', 'customer:read'] },
    wrote: 'nothing',
    afterwards: async (world, subject) => {
      const { data } = (await world.call('admin', 'GET', '/token')).body;
      expect(data).toContainEqual({ ...showReader(subject), revokedAt: STARTED_AT });
      await world.sequence();
      const events = (await world.call('admin', 'GET', '/event/list?type=token.revoked')).body.data;
      expect(events).toHaveLength(1);
    },
  }),
  row('refuses to revoke the last admin token', 'lastAdminToken', {
    given: async (world) => ({ reader: await adminOf(world) }),
  }),
  row('refuses to revoke the last admin token with force=false', 'lastAdminToken', {
    send: { force: 'false' },
    given: async (world) => ({ reader: await adminOf(world) }),
  }),
  ...[
    { scopes: ['token:write'] },
    { scopes: ['token:write', 'license:read'] },
    { kind: 'admin', maxIssues: 5, scopes: [] },
  ].map((rights) =>
    row(`refuses ${JSON.stringify(rights)} to revoke a token that may do more`, 'scopeMissing', {
      given: async (world: World) => ({ reader: await adminOf(world, secondAdmin) }),
      as: rights as As,
    }),
  ),
  row('lets a token revoke itself, whatever it may do besides', revoked, {
    given: async (world) => ({ reader: await adminOf(world, { scopes: ['token:write'], maxIssues: 3 }) }),
    as: ({ reader }) => reader,
  }),
  row('does not know a token of other products', 'tokenNotFound', {
    given: async (world, { otherProductId }) => ({
      reader: await adminOf(world, { kind: 'admin', productIds: [otherProductId] }),
    }),
    as: ({ productId }) => ({ kind: 'admin', productIds: [productId] }),
  }),
  row(
    'counts no admin that has expired, was revoked, is of another account or may not do everything',
    'lastAdminToken',
    {
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
    },
  ),
  row('revokes the last admin token with force', revoked, {
    send: { force: 'true' },
    given: async (world) => ({ reader: await adminOf(world) }),
    afterwards: async (world) => {
      expect((await world.call('admin', 'GET', '/token/self')).status).toBe(401);
    },
  }),
  row('revokes an admin token while another one stays', revoked, {
    given: async (world) => ({ reader: await adminOf(world, secondAdmin) }),
  }),
  row('has nothing against revoking an admin token again, or one that has expired', revoked, {
    given: async (world) => {
      const reader = await adminOf(world, { kind: 'admin', expiresAt: NOON });
      await world.call('admin', 'DELETE', `/token/by-id?tokenId=${reader.id}`);
      return { reader };
    },
    at: NOON,
    wrote: 'nothing',
  }),
  row('refuses a force that is neither true nor false', 'invalidParams', { send: { force: 'yes' } }),
  row('refuses a token that is not there', 'tokenNotFound', { send: { tokenId: 'tok_absent' } }),
]);

scenarios<Subject>('tokens.self', { given: prepare }, [
  row(
    'shows the token that asks, without its secret',
    answers((subject: Subject) => ({ action: 'tokens.self', status: true, data: showReader(subject), code: 0 })),
    { as: ({ reader }) => reader, absent: ({ reader }) => [reader.token.slice(-20)] },
  ),
  row(
    'counts the keys of a token that may issue only so many',
    answers({
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
    }),
    {
      given: async (world, { productId }) => {
        await world.call({ kind: 'admin', maxIssues: 3 }, 'POST', '/create-key', { productId });
      },
      as: { kind: 'admin', maxIssues: 3 },
    },
  ),
  row(
    'lets a token in up to the last millisecond before it expires',
    answers((subject: Subject) => ({ action: 'tokens.self', status: true, data: showReader(subject), code: 0 })),
    { at: '2026-11-21T11:59:59.999Z', as: ({ reader }) => reader },
  ),
  row('refuses a token from the instant it expires on', 'invalidToken', { at: NOON, as: ({ reader }) => reader }),
]);
