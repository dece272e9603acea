import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import type { As, World } from '../support/world.ts';
import { beside, tally, times } from './at-once.ts';

const shop: As = { scopes: ['license:write'] };
const other: As = { scopes: ['license:write'], maxIssues: 2 };

const create = (world: World, as: As, body: object, headers = {}) =>
  world.call(as, 'POST', '/create-key', { reference: 'order-1042', ifAbsent: true, ...body }, headers);

describe.each(engines)('a key for a reference, if there is none, on $name', (engine) => {
  const it = testsOn(engine);

  it('is issued once and returned ever after, to a token that may do no more than issue', async ({
    world,
    productId,
  }) => {
    const first = await create(world, shop, { productId });
    expect(first).toMatchObject({ status: 200, body: { code: 0 } });
    expect(first.body).not.toHaveProperty('existing');
    const again = await create(world, { ...shop, productIds: [productId] }, { productId });
    expect(again).toMatchObject({ status: 200, body: { code: 0, key: first.body.key, existing: true } });
    expect(again.body).not.toHaveProperty('warning');
    expect((await world.call('admin', 'GET', '/key/list?page=1')).body.meta.total).toBe(1);
  });

  it('is recorded each time that it is shown again', async ({ world, productId }) => {
    await create(world, shop, { productId });
    await create(world, shop, { productId });
    await world.sequence();
    const { body } = await world.call('admin', 'GET', '/event/list?type=license.revealed');
    expect(body.data).toHaveLength(1);
    expect(body.data[0].data).toMatchObject({ productId, key: expect.stringMatching(/^\*{5}-.*-\w{5}$/) });
  });

  it('is returned although the product issues no more, and makes no customer', async ({ world, productId }) => {
    const { body } = await create(world, shop, { productId });
    await world.call('admin', 'PUT', `/product/by-id?productId=${productId}`, { active: false });
    const again = await create(world, shop, { productId, newCustomer: { name: 'Ada', email: 'it@ada.example' } });
    expect(again.body).toMatchObject({ key: body.key, existing: true });
    expect((await world.call('admin', 'GET', '/customer')).body.data).toEqual([]);
  });

  it.for([
    ['is blocked', {}, (world: World, address: object) => world.call('admin', 'POST', '/key/block', address)],
    ['is revoked', {}, (world: World, address: object) => world.call('admin', 'POST', '/key/revoke', address)],
    ['differs in maxActivations', { usesPerKey: '7' }, async () => {}],
    [
      'differs in maxConcurrentSessions, licenseType',
      { licenseType: 'floating', maxConcurrentSessions: 2 },
      async () => {},
    ],
    [
      'has expired',
      {},
      (world: World, address: object) =>
        world.call('admin', 'PATCH', '/key', { ...address, expirationDate: '2020-01-01T00:00:00Z' }),
    ],
  ] as const)('is returned with a warning where it %s', async ([says, asked, change], { world, productId }) => {
    const { body } = await create(world, shop, { productId });
    await change(world, { productId, licenseKey: body.key });
    const again = await create(world, shop, { productId, ...asked });
    expect(again.body).toEqual({
      ...{ code: 0, key: body.key, existing: true },
      warning: `The key of this reference ${says}`,
    });
  });

  it('counts for a token with a limit, unless that token has issued it', async ({ world, productId }) => {
    await create(world, shop, { productId });
    const statuses = [];
    for (const reference of ['own', 'own', 'own', 'order-1042', 'order-1042']) {
      const { status, body } = await create(world, other, { productId, reference });
      statuses.push(`${status}/${body.code}`);
    }
    expect(statuses).toEqual(['200/0', '200/0', '200/0', '200/0', '403/10']);
  });

  it('of another product or account is not returned', async ({ world, productId }) => {
    await create(world, shop, { productId });
    const { id: otherProduct } = await world.product('Viewer');
    expect(await create(world, shop, { productId: otherProduct })).toMatchObject({ status: 409, body: { code: 10 } });
    const theirs = await world.call({ account: 'other', kind: 'admin' }, 'POST', '/product', { name: 'Theirs' });
    const issued = await create(world, { account: 'other', kind: 'admin' }, { productId: theirs.body.data.id });
    expect(issued.body).not.toHaveProperty('existing');
  });

  it('needs a reference', async ({ world, productId }) => {
    expect(await create(world, shop, { productId, reference: undefined })).toMatchObject({ status: 400 });
  });

  it('is one for all who ask at once, with one customer', async ({ world, productId }) => {
    const newCustomer = { name: 'Ada' };
    const ask = () => create(world, shop, { productId, newCustomer });
    // On PostgreSQL all have looked for the reference in vain before one of them may write.
    const answers =
      engine.name === 'PostgreSQL'
        ? await beside(world, ['lock table licenses in share mode'], () => Array.from({ length: 5 }, ask), {
            waiting: 5,
          })
        : await times(5, ask);
    expect(tally(answers)).toEqual({ '200/0': 5 });
    expect(new Set(answers.map(({ body }) => body.key)).size).toBe(1);
    expect((await world.call('admin', 'GET', '/customer')).body.data).toHaveLength(1);
  });
});
