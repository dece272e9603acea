import { describe, expect } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { recordExpiries } from '../../src/server/jobs/expiry.ts';
import type { Repositories } from '../../src/store/store.ts';
import { engines } from '../support/engines.ts';
import { test as it, testsOn } from '../support/fixtures.ts';
import type { World } from '../support/world.ts';

/** Runs the job once, at an instant, and returns the types of what it has recorded since the last time, in order. */
async function runAt(world: World, now: string): Promise<string[]> {
  const { recordHeads, events } = world.store.repositories;
  await world.sequence();
  const after = (await recordHeads.find(world.accounts.acme))?.eventSeq ?? 0;
  const { transaction } = world.store;
  const { signal } = new AbortController();
  await recordExpiries(
    { transaction, signal },
    { record: world.record, onRecorded: () => {}, now: () => now as Instant },
  );
  await world.sequence();
  const found = await events.list(world.accounts.acme, { after, until: 1_000_000, limit: 10_000 }, {});
  return found.map(({ type }) => type);
}

it('ends after the transaction in which the server is told to stop', async ({ world }) => {
  let transactions = 0;
  const transaction = <T>(work: (repositories: Repositories) => Promise<T>) => {
    transactions += 1;
    return world.store.transaction(work);
  };
  const parts = { record: world.record, onRecorded: () => {}, now: () => '2026-12-21T10:00:00.000Z' as Instant };
  await recordExpiries({ transaction, signal: AbortSignal.abort() }, parts);
  expect(transactions).toBe(1);
});

describe.each(engines)('what time brings about, on $name,', (engine) => {
  const it = testsOn(engine);

  it('is recorded once: a licence that ends soon, and one that has ended', async ({ world, productId }) => {
    await world.key({ productId, expiryDate: '2026-12-21T10:00:00.000Z' });
    await world.key({ productId, expiryDate: null });
    const steps = [
      ['2026-12-14T09:59:59.999Z', []],
      ['2026-12-14T10:00:00.000Z', ['license.expiring_soon']],
      ['2026-12-14T10:00:01.000Z', []],
      ['2026-12-21T09:59:59.999Z', []],
      ['2026-12-21T10:00:00.000Z', ['license.expired']],
      ['2027-12-21T10:00:00.000Z', []],
    ] as const;
    for (const [now, types] of steps) expect(await runAt(world, now)).toEqual(types);
  });

  it('is recorded also when nobody looked at the time, and by name of the job', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId, expiryDate: '2026-12-21T10:00:00.000Z' });
    const license = await world.license({ productId, licenseKey });
    // That it ends soon is no news any more.
    expect(await runAt(world, '2030-01-01T00:00:00.000Z')).toEqual(['license.expired']);
    const { body } = await world.call('admin', 'GET', '/audit/list?after=2');
    const key = expect.stringMatching(/^\*/);
    const details = { productId, customerId: null, key, expirationDate: '2026-12-21T10:00:00.000Z' };
    const by = { actor: { type: 'job', id: 'expiry' }, token: null, address: null, door: 'job', request_id: null };
    const row = { ...by, at: '2030-01-01T00:00:00.000Z', resource: { type: 'license', id: license.id }, details };
    expect(body.data).toMatchObject([{ ...row, operation: 'keys.expire' }]);
  });

  it('is recorded anew for a later end', async ({ world, productId }) => {
    await world.key({ productId, expiryDate: '2026-11-22T10:00:00.000Z' });
    expect(await runAt(world, '2026-11-22T00:00:00.000Z')).toEqual(['license.expiring_soon']);
    expect(await runAt(world, '2026-11-23T00:00:00.000Z')).toEqual(['license.expired']);
    await world.sql(`update licenses set expires_at = '2027-11-22T10:00:00.000Z'`);
    expect(await runAt(world, '2026-11-24T00:00:00.000Z')).toEqual([]);
    expect(await runAt(world, '2027-11-22T09:59:59.999Z')).toEqual(['license.expiring_soon']);
    expect(await runAt(world, '2027-11-23T00:00:00.000Z')).toEqual(['license.expired']);
  });

  it('is recorded for many, in batches, by several at one time', async ({ world, productId }) => {
    for (let index = 0; index < 230; index += 1) await world.key({ productId, expiryDate: '2026-11-22T10:00:00.000Z' });
    for (const now of ['2026-11-22T00:00:00.000Z', '2026-12-01T00:00:00.000Z']) {
      await Promise.all([now, now].map((same) => runAt(world, same)));
    }
    await world.sequence();
    const types = ['license.expiring_soon', 'license.expired'] as const;
    for (const type of types) {
      const all = { after: 0, until: 1_000_000, limit: 10_000 };
      expect(await world.store.repositories.events.list(world.accounts.acme, all, { types: [type] })).toHaveLength(230);
    }
    expect(await runAt(world, '2026-12-02T00:00:00.000Z')).toEqual([]);
  });

  it('is recorded of sessions, which are removed with it, by the job or by a checkout', async ({
    world,
    productId,
  }) => {
    const address = {
      productId,
      licenseKey: await world.key({ productId, licenseType: 'floating', expiryDate: null }),
    };
    const checkout = () =>
      world.call('admin', 'POST', '/key/checkout', { ...address, userIdentifier: 'zoe@example.com' });
    await checkout();
    expect(await runAt(world, '2026-11-21T10:14:59.999Z')).toEqual([]);
    expect(await runAt(world, '2026-11-21T10:15:00.000Z')).toEqual(['session.expired']);
    expect((await world.contents()).sessions).toEqual([]);
    await checkout();
    world.setNow('2026-11-21T11:00:00.000Z');
    await checkout();
    await world.sequence();
    const { body } = await world.call('admin', 'GET', '/event/list?after=4');
    expect(body.data.map(({ type }: { type: string }) => type)).toEqual([
      'session.checked_out',
      'session.checked_out',
      'session.expired',
    ]);
    expect(JSON.stringify(body)).not.toContain('zoe@example.com');
    expect(await runAt(world, '2026-11-21T11:00:00.000Z')).toEqual([]);
  });
});

describe('the look for licences that end, on SQLite', () => {
  it('reads those alone that are still to be announced', async () => {
    const [sqlite] = engines;
    if (sqlite === undefined) throw new Error('there is no SQLite');
    await using database = await sqlite.createDatabase();
    for (const stage of [0, 1]) {
      const plan = await database.query(`
        explain query plan select id from licenses as due where due.account_id = 'acc_1' and due.expires_at is not null
        and due.expired_recorded_for is distinct from due.expires_at
        and (case when due.soon_recorded_for is distinct from due.expires_at then 0 else 1 end) = ${stage}
        and due.expires_at <= '2026' order by due.expires_at, due.id
      `);
      const found = plan.map(({ detail }) => String(detail));
      expect(found).toEqual([expect.stringMatching(/INDEX licenses_to_record .*expires_at</)]);
    }
  });
});
