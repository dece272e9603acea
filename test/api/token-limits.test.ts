import { describe, expect } from 'vitest';
import type { Instant, TokenId } from '../../src/contract/scalars.ts';
import type { Caller } from '../../src/domain/access.ts';
import { ownerOf } from '../../src/domain/access.ts';
import { createTokenUses } from '../../src/server/token-uses.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { type As, createWorld, PEER, STARTED_AT, type World } from '../support/world.ts';

const remainingOf = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) =>
  headers['lkm-budget-remaining'];

describe.each(engines)('a token that may issue so many keys, on $name', (engine) => {
  const it = testsOn(engine);

  it('is told what is left with each key, exactly also when many are asked for at once', async ({
    world,
    productId,
  }) => {
    const shop: As = { scopes: ['license:write'], maxIssues: 10 };
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => world.call(shop, 'POST', '/create-key', { productId })),
    );
    const told = answers.filter(({ status }) => status === 200).map((answer) => Number(remainingOf(answer)));
    expect(told.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map((answer) => [answer.status, answer.body.code, remainingOf(answer)])).toEqual(
      Array.from({ length: 15 }, () => [403, 10, '0']),
    );
  });

  it('is not charged for a replay, and is told what is left then', async ({ world, productId }) => {
    const shop: As = { scopes: ['license:write'], maxIssues: 2 };
    const create = (key: string) => world.call(shop, 'POST', '/create-key', { productId }, { 'Idempotency-Key': key });
    const first = await create('one');
    const second = await create('two');
    const replay = await create('one');
    expect([first, second, replay].map(remainingOf)).toEqual(['1', '0', '0']);
    expect([replay.body, replay.headers['idempotency-replayed']]).toEqual([first.body, 'true']);
  });

  it('is not charged for a key that it did not get, and hears of no budget then', async ({ world, productId }) => {
    const shop: As = { scopes: ['license:write'], maxIssues: 2 };
    const body = { productId, reference: 'order-1' };
    expect(remainingOf(await world.call(shop, 'POST', '/create-key', body))).toBe('1');
    for (const headers of [{}, { 'Idempotency-Key': 'k' }]) {
      const taken = await world.call(shop, 'POST', '/create-key', body, headers);
      expect([taken.status, remainingOf(taken)]).toEqual([409, undefined]);
    }
    expect(remainingOf(await world.call(shop, 'POST', '/create-key', { productId }))).toBe('0');
  });
});

describe.each(engines)('a token that is limited to networks, on $name', (engine) => {
  const it = testsOn(engine);

  it('is answered from these alone; else as a token that is not there', async ({ world }) => {
    const ask = (networks: readonly string[]) => world.call({ kind: 'admin', networks }, 'GET', '/token/self');
    for (const networks of [[PEER], ['2001:db8::/32', '203.0.113.0/25'], [`::ffff:${PEER}`]])
      expect((await ask(networks)).status, networks.join()).toBe(200);
    const { text } = await world.call('nobody', 'GET', '/token/self');
    for (const networks of [['203.0.114.0/24'], ['::/0']])
      expect(await ask(networks), networks.join()).toMatchObject({ status: 401, text });
  });

  it('is told by the address behind a proxy, and not by what the caller writes before it', async () => {
    await using world = await createWorld({ engine, behindProxy: [`${PEER}/32`] });
    const from = (forwarded: string) =>
      world.call({ kind: 'admin', networks: ['198.51.100.0/24'] }, 'GET', '/token/self', undefined, {
        'X-Forwarded-For': forwarded,
      });
    expect((await from('198.51.100.9')).status).toBe(200);
    expect((await from('198.51.100.9, 192.0.2.1')).status).toBe(401);
  });
});

/** Two products with a customer and a token each, and a customer that has a key of both. */
async function divided(world: World) {
  const [ours, theirs] = [(await world.product()).id, (await world.product('Viewer')).id];
  const [mine, other, both, bare] = [
    await world.customer({ name: 'Mine' }),
    await world.customer({ name: 'Other' }),
    await world.customer({ name: 'Both' }),
    await world.customer({ name: 'Bare' }),
  ];
  await world.key({ productId: ours, customerId: mine.id });
  await world.key({ productId: theirs, customerId: other.id });
  await world.key({ productId: ours, customerId: both.id });
  await world.key({ productId: theirs, customerId: both.id });
  const as: As = { kind: 'admin', productIds: [ours] };
  const token = (await world.call(as, 'POST', '/token', { name: 'mine', kind: 'client', productIds: [ours] })).body
    .data;
  await world.call('admin', 'POST', '/token', { name: 'theirs', kind: 'client', productIds: [theirs] });
  return { ours, theirs, mine, other, both, bare, as, token };
}

describe.each(engines)('a token that is limited to a product, on $name', (engine) => {
  const it = testsOn(engine);

  it('finds the customers, keys, products and tokens of that product in lists, and no others', async ({ world }) => {
    const { as, ours, mine, both, bare, token } = await divided(world);
    const idsIn = async (path: string) => {
      const { body } = await world.call(as, 'GET', path);
      return body.data.map((item: { id: string; productId?: string }) => item.productId ?? item.id);
    };
    expect(await idsIn('/customer')).toEqual([mine.id, both.id]);
    expect((await world.call(as, 'GET', '/customer?limit=1')).body.meta.total).toBe(2);
    expect(await idsIn('/customer?text=ot')).toEqual([]);
    expect(await idsIn('/key/list')).toEqual([ours, ours]);
    expect(await idsIn(`/customer/keys?customerId=${both.id}`)).toEqual([ours]);
    expect((await world.call(as, 'GET', `/customer/by-id?customerId=${bare.id}`)).status).toBe(404);
    expect(await idsIn('/product')).toEqual([ours]);
    const own = (await world.call(as, 'GET', '/token/self')).body.data.id;
    expect((await idsIn('/token')).sort()).toEqual([own, token.id].sort());
    expect((await world.call(as, 'GET', '/token?limit=1&page=2')).body.meta.total).toBe(2);
  });

  it('has nothing to do with the products whose ids its own is made of', async ({ world }) => {
    const [one, other] = ['a'.repeat(24), 'b'.repeat(24)];
    const ids = [one, other, `${one},${other}`];
    for (const id of ids) expect((await world.call('admin', 'POST', '/product', { id, name: id })).status).toBe(201);
    const customer = await world.customer({ name: 'Secret' });
    await world.key({ productId: one, customerId: customer.id });
    const as: As = { kind: 'admin', productIds: [`${one},${other}`] };
    expect((await world.call(as, 'GET', '/customer')).body.data).toEqual([]);
    const change = await world.call(as, 'PUT', `/customer/by-id?customerId=${customer.id}`, { active: false });
    expect(change.status).toBe(404);
  });

  it('changes a customer only if no key of another product hangs on it', async ({ world }) => {
    const { as, mine, both } = await divided(world);
    const change = (id: string) => world.call(as, 'PUT', `/customer/by-id?customerId=${id}`, { active: false });
    expect([(await change(mine.id)).status, (await change(both.id)).status]).toEqual([200, 403]);
    const remove = (id: string) => world.call(as, 'DELETE', `/customer/by-id?customerId=${id}`);
    expect([(await remove(both.id)).status, (await remove(mine.id)).status]).toEqual([403, 200]);
  });
});

describe.each(engines)('the day of the last use, on $name', (engine) => {
  const it = testsOn(engine);

  it('is written down once for a token and a day, and never goes back', async ({ world }) => {
    await world.call('admin', 'GET', '/token/self');
    const read = async () => (await world.call('admin', 'GET', '/token/self')).body.data;
    const { id } = await read();
    const uses = createTokenUses(world.store);
    const caller: Caller = { ...ownerOf(world.accounts.acme), tokenId: id as TokenId };
    uses.note(caller, STARTED_AT);
    uses.note(caller, '2026-11-21T23:59:59.999Z' as Instant);
    uses.note(ownerOf(world.accounts.acme), STARTED_AT);
    expect((await read()).lastUsedOn).toBeNull();
    await uses.flush();
    expect((await read()).lastUsedOn).toBe('2026-11-21');
    uses.note(caller, '2026-11-22T00:00:00.000Z' as Instant);
    await uses.flush();
    const late = createTokenUses(world.store);
    late.note(caller, STARTED_AT);
    await late.flush();
    expect((await read()).lastUsedOn).toBe('2026-11-22');
  });
});
