import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { intervalOf, type Rate, toleranceOf, waitOf } from '../../src/domain/rate.ts';
import { createMemoryCounter, createSharedCounter, type RateCounter } from '../../src/server/http/rate-counters.ts';
import { openStore } from '../../src/store/store.ts';
import { engines } from '../support/engines.ts';
import { createWorld } from '../support/world.ts';

const postgres = engines.filter(({ name }) => name === 'PostgreSQL');
const microseconds = () => Math.floor(performance.now() * 1_000);
const slow: Rate = { perMinute: 6, burst: 20 };

/** How many of so many requests at once are allowed. */
async function burst(counters: readonly RateCounter[], rate: Rate, requests: number): Promise<number> {
  const taken = await Promise.all(
    Array.from({ length: requests }, (_, i) => counters[i % counters.length]?.take('who', rate)),
  );
  return taken.filter((each) => each?.allowed).length;
}

describe('a counter in memory', () => {
  it('allows the burst, however many ask at once', async () => {
    expect(await burst([createMemoryCounter(() => 0)], slow, 200)).toBe(20);
  });

  it('keeps a bounded number of names, and forgets those first that have used nothing up', async () => {
    let now = 0;
    const counter = createMemoryCounter(() => now, 1_000);
    for (let i = 0; i < 5_000; i += 1) await counter.take(`address ${i}`, slow);
    expect(counter.size()).toBe(1_000);
    now = intervalOf(slow);
    await counter.take('late', slow);
    expect(counter.size()).toBe(1);
  });
});

describe.each(postgres)('two replicas on $name', (engine) => {
  it('allow together what one may, of ten times as many at once', async () => {
    await using database = await engine.createDatabase();
    const other = await openStore(database.location);
    try {
      const fail = (error: unknown) => {
        throw error;
      };
      const counters = [database.store, other].flatMap(({ rates }) =>
        rates ? [createSharedCounter(rates, { now: microseconds, onFailure: fail })] : [],
      );
      expect(counters).toHaveLength(2);
      expect(await burst(counters, slow, 200)).toBe(20);
    } finally {
      await other.close();
    }
  });

  it('allow a request after the wait that either tells', async () => {
    await using database = await engine.createDatabase();
    const { rates } = database.store;
    if (rates === null) throw new Error('replicas share no rates');
    const rate: Rate = { perMinute: 120, burst: 1 };
    const taking = { name: 'who', interval: intervalOf(rate), tolerance: toleranceOf(rate) };
    expect((await rates.take(taking)).allowed).toBe(true);
    const refused = await rates.take(taking);
    expect(refused.allowed).toBe(false);
    await sleep(Math.ceil(waitOf(rate, refused.emptyAt, refused.now) / 1_000) + 1);
    expect((await rates.take(taking)).allowed).toBe(true);
    await rates.removeEmpty();
    expect(await database.query('select name from rates')).toHaveLength(1);
  });

  it('make no work for the database while a name is refused, and ask again when its time has come', async () => {
    let [now, asked] = [0, 0];
    const rate: Rate = { perMinute: 60, burst: 1 };
    const refused = { allowed: false, emptyAt: 5_000_000, now: 4_500_000 };
    const take = async () => {
      asked += 1;
      return refused;
    };
    const rates = { take, removeEmpty: async () => 0 };
    const counter = createSharedCounter(rates, { now: () => now, onFailure: () => {} });
    for (let i = 0; i < 9; i += 1) expect((await counter.take('who', rate)).allowed).toBe(false);
    now = 499_999;
    expect(await counter.take('who', rate)).toEqual({ allowed: false, emptyAt: 500_000, now });
    expect(asked).toBe(1);
    now = 500_000;
    await counter.take('who', rate);
    expect(asked).toBe(2);
  });

  it('let every request through while it cannot be counted', async () => {
    await using database = await engine.createDatabase();
    await database.query('alter table rates rename to rates_gone');
    const failures: unknown[] = [];
    const { rates } = database.store;
    if (rates === null) throw new Error('replicas share no rates');
    const counter = createSharedCounter(rates, { now: microseconds, onFailure: (error) => void failures.push(error) });
    await using world = await createWorld({ engine, perMinute: 1, counter });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await world.call('admin', 'GET', '/token/self')).status);
    expect(statuses).toEqual([200, 200, 200]);
    expect(failures).toHaveLength(3);
  });
});
