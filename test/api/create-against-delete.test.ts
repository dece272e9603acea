import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openInstance } from '../../src/server/runtime.ts';
import { engines } from '../support/engines.ts';
import { connect } from '../support/postgres.ts';
import { createWorld, type World } from '../support/world.ts';

const [engine] = engines.filter(({ name }) => name === 'PostgreSQL');

/** A service on PostgreSQL with a product, a customer, and a transaction of another server beside it. */
async function prepare() {
  const world = await createWorld({ ...(engine && { engine }) });
  const { id: productId } = await world.product();
  const { id: customerId } = await world.customer();
  const client = await connect(world.location);
  return {
    world,
    productId,
    customerId,
    client,
    /** Resolves once a statement of the service waits for a lock of `client`. */
    untilBlocked: async () => {
      for (let round = 0; round < 200; round += 1) {
        const { rows } = await client.query(
          `select 1 from pg_stat_activity where application_name = 'lkm' and wait_event_type = 'Lock' and datname = current_database()`,
        );
        if (rows.length > 0) return;
        await sleep(10);
      }
      throw new Error('nothing waits');
    },
    [Symbol.asyncDispose]: async () => {
      await client.query('rollback');
      await client.end();
      await world[Symbol.asyncDispose]();
    },
  };
}

const outcome = ({ status, body }: Awaited<ReturnType<World['call']>>) => ({ status, code: body.code });

describe('creating a key for a customer beside its deletion, on PostgreSQL', () => {
  it.each([
    ['without an idempotency key', {}],
    ['with an idempotency key', { 'Idempotency-Key': 'k' }],
  ])('returns 404/2 when the deletion commits first, %s', async (_, headers) => {
    await using beside = await prepare();
    const { world, productId, customerId, client } = beside;
    await client.query('begin');
    await client.query(`delete from customers where id = '${customerId}'`);
    const created = world.call('admin', 'POST', '/create-key', { productId, customerId }, headers);
    await beside.untilBlocked();
    await client.query('commit');
    expect(outcome(await created)).toEqual({ status: 404, code: 2 });
  });

  it('returns 200 when the deletion is undone', async () => {
    await using beside = await prepare();
    const { world, productId, customerId, client } = beside;
    await client.query('begin');
    await client.query(`delete from customers where id = '${customerId}'`);
    const created = world.call('admin', 'POST', '/create-key', { productId, customerId });
    await beside.untilBlocked();
    await client.query('rollback');
    expect(outcome(await created)).toEqual({ status: 200, code: 0 });
  });

  it('deletes the customer after a creation that was under way, and leaves that key without a customer', async () => {
    await using beside = await prepare();
    const { world, productId, customerId, client } = beside;
    await world.key({ productId });
    await client.query('begin');
    await client.query(`select 1 from customers where id = '${customerId}' for key share`);
    await client.query(`update licenses set customer_id = '${customerId}'`);
    const deleted = world.call('admin', 'DELETE', `/customer/by-id?customerId=${customerId}`);
    await beside.untilBlocked();
    await client.query('commit');
    expect(outcome(await deleted)).toEqual({ status: 200, code: 0 });
    const { licenses, customers } = await world.contents();
    expect(licenses?.map((row) => row.customer_id)).toEqual([null]);
    expect(customers).toEqual([]);
  });

  it('leaves a customer that another seller has given a key meanwhile to a token of all products', async () => {
    await using beside = await prepare();
    const { world, productId, customerId, client } = beside;
    const { id: otherId } = await world.product('Server');
    await world.key({ productId, customerId });
    await world.key({ productId: otherId });
    const seller = { kind: 'admin', productIds: [productId] } as const;
    await world.tokenOf(seller);
    await client.query('begin');
    await client.query(`select 1 from customers where id = '${customerId}' for key share`);
    await client.query(`update licenses set customer_id = '${customerId}' where product_id = '${otherId}'`);
    const deleted = world.call(seller, 'DELETE', `/customer/by-id?customerId=${customerId}`);
    await beside.untilBlocked();
    await client.query('commit');
    expect(outcome(await deleted)).toEqual({ status: 403, code: 1 });
    const { licenses } = await world.contents();
    expect(licenses?.map((row) => row.customer_id)).toEqual([customerId, customerId]);
  });

  it('returns 200 or 404/2 and nothing else, on two servers and in forty rounds', async () => {
    await using beside = await prepare();
    const { world, productId } = beside;
    const replicas = [await openInstance({ db: world.location }), await openInstance({ db: world.location })] as const;
    const call = (replica: number, method: string, path: string, body?: object) => {
      const { fetch, ownerToken } = replicas[replica % 2] ?? replicas[0];
      const headers = { Authorization: `Bearer ${ownerToken}`, 'Content-Type': 'application/json' };
      return fetch(
        new Request(`http://127.0.0.1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
      );
    };
    const seen = new Set<string>();
    for (let round = 0; round < 40; round += 1) {
      const { id: customerId } = await world.customer();
      const responses = await Promise.all([
        call(round, 'POST', '/create-key', { productId, customerId }),
        call(round, 'DELETE', `/customer/by-id?customerId=${customerId}`),
        call(round + 1, 'POST', '/create-key', { productId, customerId }),
      ]);
      for (const response of responses) {
        const { code } = (await response.json()) as { code: number };
        seen.add(`${response.status}/${code}`);
      }
    }
    await Promise.all(replicas.map((replica) => replica.close()));
    expect([...seen].filter((one) => one !== '200/0' && one !== '404/2')).toEqual([]);
  });
});
