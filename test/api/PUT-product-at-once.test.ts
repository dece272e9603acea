import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { connect } from '../support/postgres.ts';
import { createWorld } from '../support/world.ts';

describe.each(engines)('PUT /product/by-id on $name', (engine) => {
  const it = testsOn(engine);

  it('keeps a new name and a new state that are sent at the same time, whichever comes first', async ({ world }) => {
    for (let round = 0; round < 20; round += 1) {
      const { id: productId } = await world.product('Editor');
      const path = `/product/by-id?productId=${productId}`;
      await Promise.all([
        world.call('admin', 'PUT', path, { name: 'Viewer' }),
        world.call('admin', 'PUT', path, { active: false }),
      ]);
      const { body } = await world.call('admin', 'GET', path);
      expect(body.data).toMatchObject({ name: 'Viewer', active: false });
    }
  });
});

it('PUT /product/by-id on PostgreSQL keeps a name that another server commits while it waits', async () => {
  const [engine] = engines.filter(({ name }) => name === 'PostgreSQL');
  await using world = await createWorld({ ...(engine && { engine }) });
  const { id: productId } = await world.product('Editor');
  const path = `/product/by-id?productId=${productId}`;
  const client = await connect(world.location);
  await client.query('begin');
  await client.query(`update products set name = 'Viewer'`);
  const updated = world.call('admin', 'PUT', path, { active: false });
  for (let round = 0; round < 200; round += 1) {
    const { rows } = await client.query(
      `select 1 from pg_stat_activity where application_name = 'lkm' and wait_event_type = 'Lock' and datname = current_database()`,
    );
    if (rows.length > 0) break;
    await sleep(10);
  }
  await client.query('commit');
  await client.end();
  expect((await updated).body.data).toMatchObject({ name: 'Viewer', active: false });
  expect((await world.call('admin', 'GET', path)).body.data).toMatchObject({ name: 'Viewer', active: false });
});
