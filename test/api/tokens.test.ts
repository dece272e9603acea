import { expect } from 'vitest';
import { scopes } from '../../src/contract/scopes.ts';
import { hashToken } from '../../src/domain/token.ts';
import { type Afterwards, answers, refuses, row, scenarios } from '../support/scenario.ts';
import { acted, shownToken } from '../support/shop.ts';
import { type As, STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  readonly productId: string;
  readonly otherProductId: string;
  /** A token that may read licences and customers until noon. */
  readonly reader: { readonly id: string; readonly token: string };
}

/** When a token ends of which nothing else is said. */
const IN_90_DAYS = '2027-02-19T10:00:00.000Z';
const NOON = '2026-11-21T12:00:00.000Z';

async function prepare(world: World): Promise<Subject> {
  const readerBody = { name: 'reader', kind: 'scoped', scopes: ['customer:read', 'license:read'] };
  const answer = await world.call('admin', 'POST', '/token', { ...readerBody, expiresAt: '2026-11-21T14:00:00+02:00' });
  return {
    productId: (await world.product()).id,
    otherProductId: (await world.product('Viewer')).id,
    reader: answer.body.data,
  };
}

const shown = (fields: object) => shownToken({ scopes: ['license:read', 'customer:read'], expiresAt: NOON, ...fields });

const readerIn = (name: string) => answers(({ reader }: Subject) => acted(`tokens.${name}`, shown({ id: reader.id })));

/** An admin of the first product. */
const ofOneProduct = ({ productId }: Subject): As => ({ kind: 'admin', productIds: [productId] });

scenarios<Subject>('tokens.list', { given: prepare }, [
  row(
    'lists all tokens, oldest first, revoked ones too, without their secrets',
    answers(({ reader }: Subject) =>
      acted('tokens.list', [
        shown({ name: 'made by the test', kind: 'admin', scopes, expiresAt: null }),
        shown({ id: reader.id, revokedAt: STARTED_AT }),
      ]),
    ),
    {
      given: async (world, { reader }) =>
        void (await world.call('admin', 'DELETE', `/token/by-id?tokenId=${reader.id}`)),
      absent: ({ reader }) => [reader.token, reader.token.slice(-20), 'hash'],
    },
  ),
]);

scenarios<Subject>('tokens.get', { given: prepare, query: ({ reader }) => ({ tokenId: reader.id }) }, [
  row('shows a token without its secret', readerIn('get'), {
    as: { scopes: ['token:read'] },
    absent: ({ reader }) => [reader.token, reader.token.slice(-20), 'hash'],
  }),
  row('does not know a token of all products for a caller that is limited to one', 'tokenNotFound', {
    as: ofOneProduct,
  }),
]);

scenarios<Subject>('tokens.self', { given: prepare }, [
  row('lets a token in up to the last millisecond, and shows it without its secret', readerIn('self'), {
    at: '2026-11-21T11:59:59.999Z',
    as: ({ reader }) => reader,
    absent: ({ reader }) => [reader.token.slice(-20)],
  }),
  row(
    'counts the keys of a token that may issue only so many',
    answers(
      acted(
        'tokens.self',
        shown({ name: 'made by the test', kind: 'admin', scopes, maxIssues: 3, issued: 1, expiresAt: null }),
      ),
    ),
    {
      given: async (world, { productId }) =>
        void (await world.call({ kind: 'admin', maxIssues: 3 }, 'POST', '/create-key', { productId })),
      as: { kind: 'admin', maxIssues: 3 },
    },
  ),
  row('refuses a token from the instant it expires on', 'invalidToken', { at: NOON, as: ({ reader }) => reader }),
]);

const clientScopes = ['license:read', 'license:activate', 'license:sign'];

/** A new token of kind client unless it says otherwise, whose text names its kind. */
const created = (fields: { readonly kind?: string; readonly [field: string]: unknown } = {}) => ({
  body: acted('tokens.create', {
    ...shown({ name: 'new', kind: 'client', scopes: clientScopes, expiresAt: IN_90_DAYS, ...fields }),
    token: expect.stringMatching(new RegExp(`^lkm_${fields.kind ?? 'client'}_[0-9a-hjkmnp-tv-z]{59}$`)),
  }),
});

/** Whoever holds the new token is let in, and is shown as what the answer said; nothing of it is kept but its hash. */
const worksAtOnce: Afterwards<Subject> = async (world, _, { body }) => {
  const { token, ...rest } = body.data;
  expect((await world.call({ token }, 'GET', '/token/self')).body.data).toEqual(rest);
  expect(JSON.stringify(await world.contents())).not.toContain(token.slice(-40, -20));
};

const createdOfOne = answers(({ productId }: Subject) => created({ productIds: [productId] }).body);

/** New tokens that would end after their maker. */
const outlive = (fields: object) =>
  Object.entries({ 'no end': null, 'a later end': '2026-11-21T12:00:00.001Z' }).map(([name, expiresAt]) =>
    row<Subject>(
      `refuses ${name} to a maker that ends, and says when that is`,
      ['tokenOutlives', `A token ends no later than its maker: ${NOON} at the latest`],
      { send: { ...fields, expiresAt }, as: { kind: 'admin', expiresAt: NOON } },
    ),
  );

scenarios<Subject>(
  'tokens.create',
  { given: prepare, body: () => ({ name: 'new', kind: 'client' }), wrote: { tokens: 1 } },
  [
    row('creates a client token, without an end when that is said', created({ expiresAt: null }), {
      send: { expiresAt: null },
      afterwards: worksAtOnce,
    }),
    row(
      'creates a scoped token, each of whose scopes counts once, for a maker that has them',
      created({ kind: 'scoped', scopes: ['license:read', 'product:read'] }),
      {
        send: { kind: 'scoped', scopes: ['product:read', 'license:read', 'product:read'] },
        as: { scopes: ['token:write', 'license:read', 'product:read'] },
        afterwards: worksAtOnce,
      },
    ),
    row(
      'creates an admin token with limits: products, networks, number of keys, rate and end',
      answers(({ productId }: Subject) => {
        const limits = {
          productIds: [productId],
          networks: ['203.0.113.0/24', '2001:db8::1'],
          maxIssues: 3,
          issued: 0,
        };
        return created({ kind: 'admin', scopes, ...limits, rateLimit: 60, expiresAt: NOON }).body;
      }),
      {
        send: ({ productId }) => ({
          ...{ kind: 'admin', productIds: [productId, productId], maxIssues: 3, rateLimit: 60, expiresAt: NOON },
          networks: ['203.0.113.0/24', '2001:db8::1', '203.0.113.0/24'],
        }),
        afterwards: worksAtOnce,
      },
    ),
    row(
      'gives the end and the rate limit of its maker to a token of which none is said',
      created({ expiresAt: NOON, rateLimit: 60 }),
      { as: { kind: 'admin', expiresAt: NOON, rateLimit: 60 } },
    ),
    row('lets a maker that may touch some products create a token for these', createdOfOne, {
      send: ({ productId }) => ({ productIds: [productId] }),
      as: ofOneProduct,
    }),
    // What else its maker may not give: domain/access.test.ts.
    row('refuses to create a token that may do more than its maker', 'scopeMissing', {
      send: ({ otherProductId }) => ({ productIds: [otherProductId], expiresAt: null }),
      as: ofOneProduct,
    }),
    ...outlive({ kind: 'admin' }),
    row('refuses what its maker may not give before its end', 'scopeMissing', {
      send: { kind: 'admin', expiresAt: null },
      as: { scopes: ['token:write'], expiresAt: NOON },
    }),
    row('takes the very end of its maker', created({ expiresAt: NOON }), {
      send: { expiresAt: NOON },
      as: { kind: 'admin', expiresAt: NOON },
    }),
    row('refuses a product that is not there', 'productNotFound', {
      send: { productIds: ['prod_00000000000000000000000000'] },
    }),
    ...refuses('invalidParams', {
      'kind scoped without scopes': { kind: 'scoped' },
      'scopes with any other kind': { kind: 'read-only', scopes: ['license:read'] },
      'a token that would be dead at birth': { expiresAt: STARTED_AT },
    }),
  ],
);

const SECRET = 'a-secret-that-was-built-in';

/** The secret that was taken in is let in, until its token is revoked, and is kept nowhere. */
const isLetIn: Afterwards<Subject> = async (world, _, { body }) => {
  const own = { token: SECRET };
  expect((await world.call(own, 'GET', '/token/self')).body.data).toEqual(body.data);
  expect(JSON.stringify(await world.contents())).not.toContain(own.token);
  expect((await world.call('admin', 'DELETE', `/token/by-id?tokenId=${body.data.id}`)).status).toBe(200);
  expect((await world.call(own, 'GET', '/token/self')).status).toBe(401);
};

/** What a script with a bug has in place of a secret. */
const guessed = [
  '',
  ' ',
  '  ',
  '\n',
  '\t',
  'undefined',
  'null',
  'null\n',
  'None',
  '[object Object]',
  'NaN',
  'PASSWORD',
];

scenarios<Subject>(
  'tokens.import',
  {
    given: prepare,
    body: () => ({ name: 'app 4', kind: 'client', hash: hashToken(SECRET) }),
    wrote: { tokens: 1 },
  },
  [
    row(
      'takes in a token by the hash of its secret, and answers no secret',
      { body: acted('tokens.import', shown({ name: 'app 4', kind: 'client', scopes: clientScopes, expiresAt: null })) },
      { send: { expiresAt: null }, absent: [hashToken(SECRET)], afterwards: isLetIn },
    ),
    row('refuses the secret of another token', 'tokenTaken', {
      given: async (world) => {
        const body = { name: 'app 3', kind: 'client', hash: hashToken(SECRET) };
        expect((await world.call('other admin', 'POST', '/token/import', body)).status).toBe(201);
      },
    }),
    ...outlive({}),
    row('refuses to take in a token that may do more than its maker', 'scopeMissing', {
      send: ({ otherProductId }) => ({ productIds: [otherProductId] }),
      as: ofOneProduct,
    }),
    row('refuses a product that is not there', 'productNotFound', {
      send: { productIds: ['prod_00000000000000000000000000'] },
    }),
    ...refuses('invalidParams', {
      'no hash': { hash: undefined },
      'a hash that is none': { hash: 'A'.repeat(64) },
      ...Object.fromEntries(guessed.map((text) => [`the hash of ${JSON.stringify(text)}`, { hash: hashToken(text) }])),
    }),
  ],
);

const secondAdmin: As = { kind: 'admin', expiresAt: '2027-11-21T10:00:00.000Z' };

/** The token of a caller, as the subject of a row. */
const held =
  (as: As = 'admin') =>
  async (world: World): Promise<Pick<Subject, 'reader'>> => {
    const { id } = (await world.call(as, 'GET', '/token/self')).body.data;
    return { reader: { id, token: (await world.tokenOf(as)) ?? '' } };
  };

const revoked = answers(acted('tokens.revoke'));

scenarios<Subject>('tokens.revoke', { given: prepare, query: ({ reader }) => ({ tokenId: reader.id }), wrote: {} }, [
  row('revokes a token, whose very next request is refused', revoked, {
    given: async (world, { reader }) => expect((await world.call(reader, 'GET', '/customer')).status).toBe(200),
    afterwards: async (world, { reader }) => expect((await world.call(reader, 'GET', '/customer')).status).toBe(401),
  }),
  row('keeps the first instant of a token that is revoked twice, and tells it once', revoked, {
    given: async (world, { reader }) => void (await world.call('admin', 'DELETE', `/token/by-id?tokenId=${reader.id}`)),
    at: '2026-11-21T11:00:00.000Z',
    as: { scopes: ['token:write', 'license:read', 'customer:read'] },
    wrote: 'nothing',
    afterwards: async (world, { reader }) => {
      const { data } = (await world.call('admin', 'GET', `/token/by-id?tokenId=${reader.id}`)).body;
      expect(data.revokedAt).toBe(STARTED_AT);
      await world.sequence();
      expect((await world.call('admin', 'GET', '/event/list?type=token.revoked')).body.data).toHaveLength(1);
    },
  }),
  row('refuses to revoke a token that may do more', 'scopeMissing', {
    given: held(secondAdmin),
    as: { kind: 'admin', maxIssues: 5 },
  }),
  row('lets a token revoke itself, whatever it may do besides', revoked, {
    given: held({ scopes: ['token:write'], maxIssues: 3 }),
    as: ({ reader }) => reader,
  }),
  row('does not know a token of other products', 'tokenNotFound', {
    given: (world, { otherProductId }) => held({ kind: 'admin', productIds: [otherProductId] })(world),
    as: ofOneProduct,
  }),
  row('refuses to revoke the last admin token', 'lastAdminToken', { send: { force: 'false' }, given: held() }),
  row('counts no admin that has ended, is of another account or may not do everything', 'lastAdminToken', {
    given: async (world, { productId }) => {
      const { reader } = await held({ kind: 'admin', expiresAt: '2026-11-22T00:00:00.000Z' })(world);
      await world.call('admin', 'DELETE', `/token/by-id?tokenId=${reader.id}`);
      await world.tokenOf('other admin');
      const limits = [
        { expiresAt: NOON },
        { productIds: [productId] },
        { maxIssues: 1 },
        { networks: ['203.0.113.7'] },
      ];
      for (const limit of limits) await world.tokenOf({ kind: 'admin', ...limit });
      return held()(world);
    },
    at: NOON,
  }),
  row('revokes the last admin token with force', revoked, {
    send: { force: 'true' },
    given: held(),
    afterwards: async (world) => expect((await world.call('admin', 'GET', '/token/self')).status).toBe(401),
  }),
  row('revokes an admin token while another one stays', revoked, { given: held(secondAdmin) }),
  row('has nothing against revoking an admin token that has ended', revoked, {
    given: held({ kind: 'admin', expiresAt: NOON }),
    at: NOON,
  }),
  row('refuses a token that is not there', 'tokenNotFound', { send: { tokenId: 'tok_absent' } }),
]);
