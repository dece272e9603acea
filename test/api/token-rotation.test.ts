import { expect } from 'vitest';
import { answers, row, scenarios } from '../support/scenario.ts';
import { acted, shownToken } from '../support/shop.ts';
import { type Rights, STARTED_AT, type World } from '../support/world.ts';
import { times } from './at-once.ts';

interface Subject {
  readonly productId: string;
  readonly otherProductId: string;
  /** A token that reads licences until noon. */
  readonly reader: { readonly id: string; readonly token: string };
}

const NOON = '2026-11-21T12:00:00.000Z';

async function prepare(world: World): Promise<Subject> {
  return {
    productId: (await world.product()).id,
    otherProductId: (await world.product('Viewer')).id,
    reader: await tokenOf(world, { name: 'reader', kind: 'scoped', scopes: ['license:read'], expiresAt: NOON }),
  };
}

const tokenOf = async (world: World, body: unknown): Promise<Subject['reader']> =>
  (await world.call('admin', 'POST', '/token', body)).body.data;

const rotated = (until: string, fields: object = {}) =>
  answers(({ reader }: Subject) =>
    acted('tokens.rotate', {
      ...shownToken({ scopes: ['license:read'], expiresAt: NOON }),
      token: expect.stringMatching(/^lkm_scoped_/),
      replaces: { id: reader.id, expiresAt: until },
      ...fields,
    }),
  );

const statusOf = async (world: World, token: string) => (await world.call({ token }, 'GET', '/token/self')).status;

/** A token that may spend five keys, of which one is spent. */
async function spender(world: World, { productId }: Subject): Promise<Pick<Subject, 'reader'>> {
  const body = { name: 'reader', kind: 'scoped', scopes: ['license:write', 'token:write'], maxIssues: 5 };
  const reader = await tokenOf(world, body);
  expect((await world.call(reader, 'POST', '/create-key', { productId })).headers).toMatchObject({
    'lkm-budget-remaining': '4',
  });
  return { reader };
}

scenarios<Subject>(
  'tokens.rotate',
  { given: prepare, body: ({ reader }) => ({ tokenId: reader.id }), wrote: { tokens: 1 } },
  [
    row(
      'makes a token of the same rights and term; both work until the overlap ends',
      rotated('2026-11-21T11:00:00.000Z'),
      {
        send: { overlap: 'PT1H' },
        afterwards: async (world, { reader }, { body }) => {
          expect([await statusOf(world, reader.token), await statusOf(world, body.data.token)]).toEqual([200, 200]);
          world.setNow('2026-11-21T11:00:00.000Z');
          expect([await statusOf(world, reader.token), await statusOf(world, body.data.token)]).toEqual([401, 200]);
          const { token: _, replaces, ...made } = body.data;
          expect((await world.call('admin', 'GET', `/token/by-id?tokenId=${made.id}`)).body.data).toEqual(made);
        },
      },
    ),
    row('ends the replaced token at once without an overlap', rotated(STARTED_AT), {
      send: { overlap: 'PT0S' },
      afterwards: async (world, { reader }) => expect(await statusOf(world, reader.token)).toBe(401),
    }),
    row(
      'does not prolong a token that ends before the overlap, unlike the new one',
      rotated(NOON, { expiresAt: null }),
      {
        send: { expiresAt: null },
      },
    ),
    row(
      'lets no token outlive its maker, also when it replaces itself',
      rotated(NOON, { scopes: ['token:write'], createdAt: '2026-11-21T11:00:00.000Z' }),
      {
        given: async (world) => ({
          reader: await tokenOf(world, { name: 'reader', kind: 'scoped', scopes: ['token:write'], expiresAt: NOON }),
        }),
        at: '2026-11-21T11:00:00.000Z',
        as: ({ reader }) => reader,
      },
    ),
    row(
      'lets both spend one budget of keys, and no key more',
      rotated('2026-11-22T10:00:00.000Z', {
        ...{ scopes: ['license:write', 'token:write'], maxIssues: 5, issued: 1 },
        expiresAt: '2027-01-01T00:00:00.000Z',
      }),
      {
        send: { expiresAt: '2027-01-01T00:00:00Z' },
        given: spender,
        as: ({ reader }) => reader,
        afterwards: async (world, { reader, productId }, { body }) => {
          const made = { token: body.data.token };
          const again = await world.call(made, 'POST', '/token/rotate', { tokenId: body.data.id });
          const holders = [reader, made, { token: again.body.data.token }];
          const answers = await times(12, (i) =>
            world.call(holders[i % 3] ?? 'nobody', 'POST', '/create-key', { productId }),
          );
          const left = answers.map(({ headers }) => headers['lkm-budget-remaining']).sort();
          expect(left).toEqual(['0', '0', '0', '0', '0', '0', '0', '0', '0', '1', '2', '3']);
          expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
          for (const id of [reader.id, body.data.id, again.body.data.id]) {
            expect((await world.call('admin', 'GET', `/token/by-id?tokenId=${id}`)).body.data.issued).toBe(5);
          }
        },
      },
    ),
    row(
      'refuses a new end after that of its maker, and says when that is',
      ['tokenOutlives', `A token ends no later than its maker: ${NOON} at the latest`],
      { send: { expiresAt: null }, as: { kind: 'admin', expiresAt: NOON } },
    ),
    row('refuses to replace a token that may do more than the caller', 'scopeMissing', {
      as: { scopes: ['token:write'] },
    }),
    row('refuses to replace a token that issues keys for a caller that may issue only so many', 'scopeMissing', {
      given: spender,
      as: { kind: 'admin', maxIssues: 100 },
    }),
    row('does not know a token of other products', 'tokenNotFound', {
      given: async (world, { otherProductId }) => ({
        reader: await tokenOf(world, { name: 'reader', kind: 'client', productIds: [otherProductId] }),
      }),
      as: ({ productId }): Rights => ({ kind: 'admin', productIds: [productId] }),
    }),
    row('refuses a token that was revoked', 'tokenEnded', {
      given: (world) => world.sql(`update tokens set revoked_at = '${STARTED_AT}' where name = 'reader'`),
    }),
    row('refuses a token that is not there', 'tokenNotFound', { send: { tokenId: 'tok_absent' } }),
  ],
);
