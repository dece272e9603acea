import { expect, it, vi } from 'vitest';
import { engines } from '../support/engines.ts';
import { connect, query } from '../support/postgres.ts';
import { createWorld } from '../support/world.ts';

it('requests of one host that lose the race for its device give their slots back, on PostgreSQL', async () => {
  const engine = engines.find(({ name }) => name === 'PostgreSQL');
  if (engine === undefined) throw new Error('there is no PostgreSQL');
  await using world = await createWorld({ engine });
  const { id: productId } = await world.product();
  const address = { productId, licenseKey: await world.key({ productId, usesPerKey: '5' }) };

  // While the licence is locked nobody gets further than looking for the device, which none of them finds.
  const holder = await connect(world.location);
  await holder.query('begin');
  await holder.query('select 1 from licenses for update');
  const signed = Promise.all(
    Array.from({ length: 30 }, () => world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-1' })),
  );
  try {
    await vi.waitFor(async () => expect(await countWaiting(world.location)).toBeGreaterThan(2), { timeout: 4_000 });
  } finally {
    await holder.query('rollback');
    await holder.end();
  }

  expect((await signed).map(({ status }) => status)).toEqual(Array(30).fill(200));
  expect(await query(world.location, 'select activations from licenses')).toEqual([{ activations: 1 }]);
  const others = [];
  for (const hostId of ['host-2', 'host-3', 'host-4', 'host-5', 'host-6']) {
    others.push((await world.call('admin', 'POST', '/key/sign', { ...address, hostId })).status);
  }
  expect(others).toEqual([200, 200, 200, 200, 403]);
});

async function countWaiting(location: string): Promise<unknown> {
  const [row] = await query(
    location,
    `select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.waiting;
}
