import { describe, expect } from 'vitest';
import { engineOf } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { beside, tally } from './at-once.ts';

const it = testsOn(engineOf('PostgreSQL'));

const remove = (customerId: string) => [`delete from customers where id = '${customerId}'`];

/** The statements of another server that gives keys to a customer. */
const give = (customerId: string, which = '') => [
  `select 1 from customers where id = '${customerId}' for key share`,
  `update licenses set customer_id = '${customerId}' ${which}`,
];

describe('creating a key for a customer beside its deletion, on PostgreSQL', () => {
  it.for([
    ['404/2 when the deletion commits first', {}, 'commit', '404/2'],
    ['404/2 then with an idempotency key too', { 'Idempotency-Key': 'k' }, 'commit', '404/2'],
    ['200 when the deletion is undone', {}, 'rollback', '200/0'],
  ] as const)('returns %s', async ([, headers, end, expected], { world, productId }) => {
    const { id: customerId } = await world.customer();
    const body = { productId, customerId };
    const send = () => [world.call('admin', 'POST', '/create-key', body, headers)];
    const created = await beside(world, remove(customerId), send, { end });
    expect(tally(created)).toEqual({ [expected]: 1 });
  });

  it('deletes the customer after a creation that was under way, and leaves that key without a customer', async ({
    world,
    productId,
  }) => {
    const { id } = await world.customer();
    await world.key({ productId });
    const send = () => [world.call('admin', 'DELETE', `/customer/by-id?customerId=${id}`)];
    expect(tally(await beside(world, give(id), send))).toEqual({ '200/0': 1 });
    const { licenses, customers } = await world.contents();
    expect(licenses?.map((row) => row.customer_id)).toEqual([null]);
    expect(customers).toEqual([]);
  });

  it('leaves a customer that another seller has given a key meanwhile to a token of all products', async ({
    world,
    productId,
  }) => {
    const { id } = await world.customer();
    const { id: otherId } = await world.product('Server');
    await world.key({ productId, customerId: id });
    await world.key({ productId: otherId });
    const seller = { kind: 'admin', productIds: [productId] } as const;
    await world.tokenOf(seller);
    const send = () => [world.call(seller, 'DELETE', `/customer/by-id?customerId=${id}`)];
    const deleted = await beside(world, give(id, `where product_id = '${otherId}'`), send);
    expect(tally(deleted)).toEqual({ '403/1': 1 });
    const { licenses } = await world.contents();
    expect(licenses?.map((row) => row.customer_id)).toEqual([id, id]);
  });
});
