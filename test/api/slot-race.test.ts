import { expect, it, vi } from 'vitest';
import { type Engine, engines } from '../support/engines.ts';
import { connect, query } from '../support/postgres.ts';
import { checkOut, signedBy } from '../support/sessions.ts';
import { type Answer, createWorld } from '../support/world.ts';

it('requests of one host that lose the race for its device give their slots back, on PostgreSQL', async () => {
  await using world = await createWorld({ engine: postgres() });
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

it('two devices that are rebound to one host at once do not both get there, on PostgreSQL', async () => {
  await using world = await createWorld({ engine: postgres() });
  const { id: productId } = await world.product();
  const address = { productId, licenseKey: await world.key({ productId }) };
  await world.activate(address, 'host-0', 'host-1');
  const rebind = (hostId: string, newHostId: string) =>
    world.call('admin', 'POST', '/key/rebind', { ...address, hostId, newHostId });
  expect((await rebind('host-0', 'host-2')).status).toBe(200);

  // While the count is locked nobody gets further than looking for the new host, which none of them finds.
  const rebound = await whileLocked(world.location, 'rebindings', 2, () => [
    rebind('host-1', 'host-9'),
    rebind('host-2', 'host-9'),
  ]);
  expect(rebound.map(({ status, body }) => [status, body.code]).sort()).toEqual([
    [200, 0],
    [409, 8],
  ]);
});

it('two heartbeats that sign one nonce at once are told the same next one, on PostgreSQL', async () => {
  await using world = await createWorld({ engine: postgres() });
  const { id: productId } = await world.product();
  const address = { productId, licenseKey: await world.key({ productId, licenseType: 'floating' }) };
  const session = await checkOut(world, address);
  const beat = () => world.call('client', 'POST', '/key/heartbeat', { ...address, ...signedBy(session) });

  const [first, second] = await whileLocked(world.location, 'sessions', 2, () => [beat(), beat()]);
  expect(first?.status).toBe(200);
  expect(second?.body).toEqual(first?.body);
  const next = { ...session, nextNonce: first?.body.nextNonce };
  const third = await world.call('client', 'POST', '/key/heartbeat', { ...address, ...signedBy(next) });
  expect(third.status).toBe(200);
});

function postgres(): Engine {
  const engine = engines.find(({ name }) => name === 'PostgreSQL');
  if (engine === undefined) throw new Error('there is no PostgreSQL');
  return engine;
}

/** Sends requests while all rows of the table are locked, and lets them go on once so many of them wait. */
async function whileLocked(
  location: string,
  table: string,
  waiting: number,
  send: () => readonly Promise<Answer>[],
): Promise<Answer[]> {
  const holder = await connect(location);
  await holder.query('begin');
  await holder.query(`select 1 from ${table} for update`);
  const answers = Promise.all(send());
  try {
    await vi.waitFor(async () => expect(await countWaiting(location)).toBe(waiting), { timeout: 4_000 });
  } finally {
    await holder.query('rollback');
    await holder.end();
  }
  return answers;
}

async function countWaiting(location: string): Promise<unknown> {
  const [row] = await query(
    location,
    `select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.waiting;
}
