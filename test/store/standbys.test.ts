import { describe, expect, it, vi } from 'vitest';
import { createRandom } from '../../faults/random.ts';
import { runStandbyPairs } from '../../faults/standbys/run.ts';
import type { AccountId, Instant } from '../../src/contract/scalars.ts';
import { StorageError } from '../../src/store/engine/storage-error.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { query } from '../support/postgres.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startStandby } from '../support/standby.ts';

const REPLAYS = 'reads go to it';

/** A primary, its standby, and a store that reads from it. */
async function openPair(settings: Readonly<Record<string, string | number>> = {}) {
  const primary = await startPostgres({ fsync: 'off' });
  const standby = await startStandby(primary.url, settings);
  await (await openStore(primary.url)).close();
  const store = await openStore(primary.url, { standbys: [standby.url] });
  return {
    ...{ primary, standby, store },
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await standby.stop();
      await primary.stop();
    },
  };
}

const id = (n: number) => `acc_${String(n).padStart(6, '0')}` as AccountId;

/** Adds an account, and reads it. */
async function writeAndRead({ transaction, repositories }: Store, n: number): Promise<AccountId | null> {
  await transaction(({ accounts }) => accounts.insert({ id: id(n), name: id(n), createdAt: '' as Instant }));
  return repositories.accounts.next(id(n - 1));
}

const problemOf = ({ standbys }: Store) => standbys?.list()[0]?.problem ?? REPLAYS;

const untilUsed = (store: Store) =>
  vi.waitFor(() => expect(problemOf(store)).toBe(REPLAYS), { timeout: 10_000, interval: 50 });

/** Counts reads from now on. */
function countReads({ standbys }: Store) {
  const before = { standby: 0, primary: 0, ...standbys?.reads };
  return () => ({
    standby: (standbys?.reads.standby ?? 0) - before.standby,
    primary: (standbys?.reads.primary ?? 0) - before.primary,
  });
}

describe('reads from a standby', { timeout: 60_000 }, () => {
  it('find what any server acknowledged before them, while replay pauses, and come from the standby', async () => {
    const outcome = await runStandbyPairs({ pairs: 400, pauseMs: 40, kills: 0, random: createRandom(7) });
    expect(outcome).toMatchObject({ pairs: 400, stale: 0 });
    expect(outcome.fromStandby).toBeGreaterThan(100);
  });

  it('come from the primary while the standby replays each commit late, and from the standby after that', async () => {
    await using pair = await openPair({ recovery_min_apply_delay: '300ms' });
    const { store } = pair;
    await untilUsed(store);
    const reads = countReads(store);
    for (let n = 1; n <= 100; n += 1) expect(await writeAndRead(store, n)).toBe(id(n));
    expect(problemOf(store)).toBe('it is more than 50 ms behind');
    expect(reads()).toEqual({ standby: 0, primary: 100 });
    await untilUsed(store);
    expect(await store.repositories.accounts.next(id(99))).toBe(id(100));
    expect(reads()).toEqual({ standby: 1, primary: 100 });
  });

  it('go on from the primary when the standby is killed, and from the standby once it is back', async () => {
    await using pair = await openPair();
    const { store, standby } = pair;
    await untilUsed(store);
    const reads = countReads(store);
    expect(await writeAndRead(store, 1)).toBe(id(1));
    expect(reads()).toEqual({ standby: 1, primary: 0 });

    await standby.kill();
    expect(await writeAndRead(store, 2)).toBe(id(2));
    expect(problemOf(store)).toMatch(/^it failed: /);
    await standby.start();
    await untilUsed(store);
    expect(await writeAndRead(store, 3)).toBe(id(3));
    expect(reads()).toEqual({ standby: 2, primary: 1 });
  });

  it('fail while the primary is away, as they do without a standby', async () => {
    await using pair = await openPair();
    const { store, primary } = pair;
    await untilUsed(store);
    expect(await writeAndRead(store, 1)).toBe(id(1));
    await primary.stop();
    await expect(store.repositories.accounts.oldest()).rejects.toBeInstanceOf(StorageError);
    await expect(store.check()).rejects.toBeInstanceOf(StorageError);
  });

  it('never come from a server that is promoted', async () => {
    await using pair = await openPair();
    const { store, standby } = pair;
    await untilUsed(store);
    await standby.promote();
    await vi.waitFor(() => expect(problemOf(store)).toBe('it is no standby'), { timeout: 10_000, interval: 50 });
    await query(standby.url, `insert into accounts (id, name, created_at) values ('acc_000001', 'elsewhere', '')`);
    expect(await store.repositories.accounts.next('')).toBeNull();
  });

  it('never come from a standby of another cluster', async () => {
    await using pair = await openPair();
    await using other = await openPair();
    const store = await openStore(pair.primary.url, { standbys: [other.standby.url] });
    expect(problemOf(store)).toBe('it is no copy of the primary, or of an older one');
    expect(await writeAndRead(store, 1)).toBe(id(1));
    await store.close();
  });

  it('count rate limits on the primary: their table is on no standby', async () => {
    await using pair = await openPair();
    const { store } = pair;
    await untilUsed(store);
    const reads = countReads(store);
    const limit = { interval: 60_000_000, tolerance: 0 };
    expect(await store.rates?.take({ name: 'a token', ...limit })).toMatchObject({ allowed: true });
    expect(await store.rates?.take({ name: 'a token', ...limit })).toMatchObject({ allowed: false });
    expect(reads()).toEqual({ standby: 0, primary: 0 });
  });
});
