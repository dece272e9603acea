import { describe, expect, it } from 'vitest';
import { cleanUp, createCleanupSchedule } from '../../src/server/jobs/cleanup.ts';
import type { Repositories } from '../../src/store/store.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { allRecorded } from '../support/recorded.ts';
import { foreignRecord } from '../support/store-fixture.ts';
import { createWorld, STARTED_AT, type World } from '../support/world.ts';

const HOUR_MS = 60 * 60 * 1_000;

describe('the daily cleanup', () => {
  /** Two clocks that a test turns: the steady one goes on, the wall clock can be set. */
  function clocks() {
    let steadyMs = 5_000;
    let offsetMs = Date.parse('2026-11-21T10:00:00.000Z');
    return {
      wall: () => steadyMs + offsetMs,
      steady: () => steadyMs,
      pass: (ms: number) => {
        steadyMs += ms;
      },
      jump: (ms: number) => {
        offsetMs += ms;
      },
    };
  }

  it('is due at once, and then once a day', () => {
    const time = clocks();
    const claimRun = createCleanupSchedule(time);
    expect(claimRun()).toBe('first');
    time.pass(24 * HOUR_MS - 1);
    expect(claimRun()).toBe(null);
    time.pass(1);
    expect(claimRun()).toBe('daily');
    expect(claimRun()).toBe(null);
  });

  it.each([
    ['forward', 48 * HOUR_MS],
    ['back', -48 * HOUR_MS],
  ])('leaves out the day in which the wall clock jumped %s', (_, jump) => {
    const time = clocks();
    const claimRun = createCleanupSchedule(time);
    claimRun();
    time.pass(23 * HOUR_MS);
    time.jump(jump);
    expect(claimRun()).toBe(null);
    time.pass(HOUR_MS);
    expect(claimRun()).toBe(null);
    time.pass(23 * HOUR_MS);
    expect(claimRun()).toBe('daily');
  });

  it('follows a clock that is put right by less than an hour', () => {
    const time = clocks();
    const claimRun = createCleanupSchedule(time);
    claimRun();
    time.pass(24 * HOUR_MS);
    time.jump(HOUR_MS);
    expect(claimRun()).toBe('daily');
  });
});

describe.each(engines)('cleaning up on $name', (engine) => {
  const it = testsOn(engine);

  it('removes what is older than 24 hours, in batches, and leaves the rest', async ({ world }) => {
    await insertOld(world, 1_001);
    const dayOld = foreignRecord(world.accounts.acme, 'a day old', { createdAt: '2026-11-20T10:00:00.000Z' });
    await world.store.transaction(({ idempotency }) => idempotency.insert(dayOld));
    const clean = () => cleanUp(world.store, Date.parse(STARTED_AT), { record: world.record, due: 'daily' });
    expect(await clean()).toEqual({ idempotencyRecords: 1_001, licenseFiles: 0 });
    expect((await world.contents()).idempotency).toMatchObject([{ key_hash: dayOld.keyHash }]);
    // An entry for each batch, and none for a run that removes nothing.
    await clean();
    const entries = [500, 500, 1].map((removed) => ['idempotency.cleanup', 'job', 'cleanup', { removed }]);
    expect(await entriesOf(world)).toEqual(entries);
  });

  it.each([
    ['by the clock', '2026-11-21T10:00:00.000Z', '2026-11-14T09:59:59.999Z', 1],
    ['that is no older than a week', '2026-11-21T10:00:00.000Z', '2026-11-14T10:00:00.000Z', 0],
    ['by a clock that is ahead of all that was done', '2027-11-21T10:00:00.000Z', '2026-11-14T10:00:00.000Z', 0],
    ['by a clock that is behind', '2026-11-20T10:00:00.000Z', '2026-11-14T09:59:59.999Z', 0],
  ])('removes what is older than a week in the first run after a start, %s', async (_, now, createdAt, removed) => {
    await using world = await createWorld({ engine });
    const first = () => cleanUp(world.store, Date.parse(now), { record: world.record, due: 'first' });
    expect((await first()).idempotencyRecords).toBe(0);
    await world.store.transaction(async ({ idempotency }) => {
      await idempotency.insert(foreignRecord(world.accounts.acme, 'old', { createdAt }));
      await idempotency.insert(foreignRecord(world.accounts.acme, 'new', { createdAt: '2026-11-21T10:00:00.000Z' }));
    });
    expect((await first()).idempotencyRecords).toBe(removed);
  });

  it('ends leases that end later than any can, and no others', async ({ world, productId }) => {
    const floating = { licenseType: 'floating', maxConcurrentSessions: 1, expiryDate: '2030-01-01T00:00:00.000Z' };
    const licenseKey = await world.key({ productId, ...floating });
    const checkOut = () => world.call('admin', 'POST', '/key/checkout', { productId, licenseKey });
    world.setNow('2027-01-05T10:00:00.000Z');
    expect((await checkOut()).status).toBe(200);
    world.setNow(STARTED_AT);
    expect((await checkOut()).status).toBe(403);
    await cleanUp(world.store, Date.parse(STARTED_AT), { record: world.record, due: 'daily' });
    expect((await checkOut()).status).toBe(200);
    expect((await checkOut()).status).toBe(403);
  });

  it('has recorded what it removed when its lease is lost on the way', async ({ world }) => {
    await insertOld(world, 600);
    let batches = 0;
    const losing = {
      transaction: async <T>(work: (repositories: Repositories) => Promise<T>) => {
        batches += 1;
        return batches === 1 ? world.store.transaction(work) : null;
      },
    };
    const removed = await cleanUp(losing, Date.parse(STARTED_AT), { record: world.record, due: 'daily' });
    expect(removed.idempotencyRecords).toBe(500);
    expect(await entriesOf(world)).toEqual([['idempotency.cleanup', 'job', 'cleanup', { removed: 500 }]]);
  });
});

/** Inserts so many records that are a millisecond older than a day. */
async function insertOld({ store, accounts }: World, count: number): Promise<void> {
  const createdAt = '2026-11-20T09:59:59.999Z';
  await store.transaction(async ({ idempotency }) => {
    for (let i = 0; i < count; i += 1)
      await idempotency.insert(foreignRecord(accounts.acme, `old-${i}`, { createdAt }));
  });
}

async function entriesOf(world: World) {
  const entries = await allRecorded(world);
  return entries.map(({ operation, door, actor, details }) => [operation, door, actor.id, details]);
}
