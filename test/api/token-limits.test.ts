import { describe, expect } from 'vitest';
import type { Instant, TokenId } from '../../src/contract/scalars.ts';
import type { Caller } from '../../src/domain/access.ts';
import { ownerOf } from '../../src/domain/access.ts';
import { createTokenUses } from '../../src/server/token-uses.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { type As, createWorld, PEER, STARTED_AT, type World } from '../support/world.ts';
import { times } from './at-once.ts';

const remainingOf = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) =>
  headers['lkm-budget-remaining'];

describe.each(engines)('a token that may issue so many keys, on $name', (engine) => {
  const it = testsOn(engine);

  it('is told what is left with each key, exactly also when many are asked for at once', async ({
    world,
    productId,
  }) => {
    const shop: As = { scopes: ['license:write'], maxIssues: 10 };
    const answers = await times(25, () => world.call(shop, 'POST', '/create-key', { productId }));
    const told = answers.map((answer) => `${answer.status}/${answer.body.code} ${remainingOf(answer)}`);
    const issued = Array.from({ length: 10 }, (_, left) => `200/0 ${left}`);
    expect(told.sort()).toEqual([...issued, ...Array(15).fill('403/10 0')]);
  });

  it('is not charged for a replay, and is told what is left then', async ({ world, productId }) => {
    const shop: As = { scopes: ['license:write'], maxIssues: 2 };
    const create = (key: string) => world.call(shop, 'POST', '/create-key', { productId }, { 'Idempotency-Key': key });
    const answers = [await create('one'), await create('two'), await create('one')];
    expect(answers.map(remainingOf)).toEqual(['1', '0', '0']);
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

describe.each(engines)('a token that is limited to a product, on $name', (engine) => {
  const it = testsOn(engine);

  /** Customers with a key of the token's product, of another one, of both, and of none. */
  async function divided(world: World, productId: string) {
    const { id: otherId } = await world.product('Viewer');
    const as: As = { kind: 'admin', productIds: [productId] };
    const customer = async (...products: readonly string[]) => {
      const { id: customerId } = await world.customer();
      for (const productId of products) await world.key({ productId, customerId });
      return customerId;
    };
    const [mine, both] = [await customer(productId), await customer(productId, otherId)];
    return { as, mine, both, others: [await customer(otherId), await customer()] };
  }

  it('counts the customers of that product alone, and sees no others, nor whose customer one is besides', async ({
    world,
    productId,
  }) => {
    const { as, mine, both, others } = await divided(world, productId);
    const read = async (path: string) => (await world.call(as, 'GET', path)).body;
    expect((await read('/customer')).data.map(({ id }: { id: string }) => id)).toEqual([mine, both]);
    expect((await read('/customer?limit=1')).meta.total).toBe(2);
    expect((await read(`/customer/keys?customerId=${both}`)).data).toMatchObject([{ productId }]);
    for (const id of others) expect((await read(`/customer/by-id?customerId=${id}`)).code).toBe(2);
    // Itself, and one that it makes.
    await world.call(as, 'POST', '/token', { name: 'mine', kind: 'client', productIds: [productId] });
    await world.call('admin', 'POST', '/token', { name: 'theirs', kind: 'client' });
    expect((await read('/token?limit=1&page=2')).meta.total).toBe(2);
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

  it('changes a customer only if no key of another product hangs on it', async ({ world, productId }) => {
    const { as, mine, both } = await divided(world, productId);
    const statuses = [];
    for (const [method, body] of [['PUT', { active: false }], ['DELETE']] as const)
      for (const id of [both, mine])
        statuses.push((await world.call(as, method, `/customer/by-id?customerId=${id}`, body)).status);
    expect(statuses).toEqual([403, 200, 403, 200]);
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
