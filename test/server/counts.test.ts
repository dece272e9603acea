import { describe, expect } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { countJob } from '../../src/server/jobs/counts.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { type Rights, STARTED_AT, type World } from '../support/world.ts';

/** Adds keys beside one, half of them trials; the first thirty have a device when that has one. */
async function addKeys(world: World, licenseKey: string, count: number): Promise<void> {
  await world.sql(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
     insert into licenses (account_id, id, product_id, license_key, activations, features, is_trial, license_type,
       heartbeat_seconds, lease_seconds, customer_can_self_reset, vendor_disabled, created_at, updated_at)
     select account_id, id || i, product_id, license_key || i, case when i > 30 then 0 else activations end, '{}', i % 2,
       license_type, 300, 900, 0, 0, created_at, updated_at from n, licenses where license_key = '${licenseKey}'`,
  );
  await world.sql(
    `insert into devices (account_id, license_id, host_id, id, ip_address, created_at)
     select licenses.account_id, licenses.id, host_id, licenses.id, ip_address, devices.created_at from licenses, devices
     where licenses.id like devices.license_id || '_%' and licenses.activations > 0`,
  );
}

/** Few that are many. */
const MANY = 10;

/** A job whose clock only the test moves; it begins with the world's. */
function openJob(world: World) {
  let [passed, took] = [0, 0];
  let now = STARTED_AT;
  const job = countJob(world.store, {
    now: () => now,
    many: MANY,
    // Read when a run begins, and twice when it ends.
    steady: () => {
      passed += took / 2;
      return passed;
    },
  });
  return {
    setNow(instant: string) {
      now = instant as Instant;
      world.setNow(instant);
    },
    /** Passes some time, and runs the job. */
    run: ({ after = 0, lasts = 0, signal = new AbortController().signal } = {}) => {
      took = 0;
      passed += after;
      took = lasts;
      return job.run({ log: undefined as never, signal, transaction: world.store.transaction });
    },
  };
}

describe.each(engines)('the numbers of many keys on $name', (engine) => {
  const it = testsOn(engine);

  const statsOf = async (world: World, as: 'admin' | Rights = 'admin', query = '') =>
    (await world.call(as, 'GET', `/stats${query}`)).body.data;

  it('are counted each once, over the batches that are read, with their devices', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId });
    await world.activate({ productId, licenseKey }, 'one');
    await addKeys(world, licenseKey, 10_100);
    const counted = { age: 0, devices: 31, keys: { total: 10_101, trial: 5_050, unused: 10_070, expiring: 1 } };
    expect(await statsOf(world)).toMatchObject(counted);
    expect((await statsOf(world)).activatedPerWeek.at(-1)).toMatchObject({ count: 31 });
  });

  it('are those that the job has kept, with their age, for those who may see the product', async ({
    world,
    productId,
  }) => {
    const licenseKey = await world.key({ productId });
    await addKeys(world, licenseKey, MANY);
    const { run, setNow } = openJob(world);
    const other = (await world.product('Viewer')).id;
    await run();
    await world.key({ productId });
    const of = async (productIds: string[], query = '') =>
      (await statsOf(world, { kind: 'read-only', productIds }, query)).keys.total;
    expect(await statsOf(world)).toMatchObject({ age: 0, keys: { total: MANY + 1 } });
    expect(await of([productId, other])).toBe(MANY + 1);
    expect(await of([other])).toBe(0);
    expect(await of([other], `?productId=${productId}`)).toBe(0);
    const ofOther = (await world.call('other admin', 'GET', '/stats')).body.data;
    expect(ofOther).toMatchObject({ age: 0, keys: { total: 0 } });

    setNow('2026-11-21T10:00:29.000Z');
    await run();
    expect(await statsOf(world)).toMatchObject({ age: 29, keys: { total: MANY + 1 } });
    setNow('2026-11-21T10:00:30.000Z');
    await run();
    expect(await statsOf(world)).toMatchObject({ age: 0, keys: { total: MANY + 2 } });
  });

  it('are counted for who asks when the job has not run for an hour, or the clock was set back', async ({
    world,
    productId,
  }) => {
    await addKeys(world, await world.key({ productId }), MANY);
    const { run, setNow } = openJob(world);
    await run();
    await world.key({ productId });
    setNow('2026-11-21T10:59:59.000Z');
    expect(await statsOf(world)).toMatchObject({ age: 3_599, keys: { total: MANY + 1 } });
    for (const now of ['2026-11-21T11:00:00.000Z', '2026-11-21T09:59:59.000Z']) {
      setNow(now);
      expect(await statsOf(world)).toMatchObject({ age: 0, keys: { total: MANY + 2 } });
    }
    await run();
    expect(await world.store.repositories.stats.find(world.accounts.acme)).toMatchObject({
      countedAt: '2026-11-21T09:59:59.000Z',
    });
  });

  it('are kept of many only, and no more when they are few', async ({ world, productId }) => {
    const { stats } = world.store.repositories;
    const { run, setNow } = openJob(world);
    await addKeys(world, await world.key({ productId }), MANY - 1);
    await run();
    expect(await stats.find(world.accounts.acme)).toBeNull();
    const licenseKey = await world.key({ productId });
    await run();
    expect(await stats.find(world.accounts.acme)).not.toBeNull();
    const { status } = await world.call('admin', 'DELETE', `/key?${new URLSearchParams({ productId, licenseKey })}`);
    expect(status).toBe(200);
    setNow('2026-11-21T10:01:00.000Z');
    await run();
    expect(await stats.find(world.accounts.acme)).toBeNull();
    expect(await statsOf(world)).toMatchObject({ age: 0, keys: { total: MANY } });
  });

  it('take a hundredth of the time at most, and end when the server stops', async ({ world, productId }) => {
    await addKeys(world, await world.key({ productId }), MANY);
    const { run } = openJob(world);
    const signal = new AbortController();
    const { stats } = world.store.repositories;
    world.store.repositories.stats = {
      ...stats,
      hasMoreThan: (...asked) => {
        signal.abort();
        return stats.hasMoreThan(...asked);
      },
    };
    await run({ signal: signal.signal });
    world.store.repositories.stats = stats;
    expect(await stats.find(world.accounts.acme)).toBeNull();

    expect(await run({ lasts: 1_000 })).toBe(true);
    expect(await stats.find(world.accounts.acme)).not.toBeNull();
    expect(await run({ after: 98_000 })).toBe(false);
    expect(await run({ after: 2_000 })).toBe(true);
  });
});
