import { describe, expect, it } from 'vitest';
import { intervalOf, type Rate, remainingOf, toleranceOf, waitOf } from '../../src/domain/rate.ts';
import { createMemoryCounter, createSharedCounter, type RateCounter } from '../../src/server/http/rate-counters.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { engines } from '../support/engines.ts';
import { nameOf, recordStatements } from '../support/statements.ts';
import { createWorld } from '../support/world.ts';

const now = () => 0;
const slow: Rate = { perMinute: 6, burst: 20 };

/** How many of 200 requests at once are allowed. */
async function burst(...counters: readonly RateCounter[]): Promise<number> {
  const asked = Array.from({ length: 200 }, (_, i) => counters[i % counters.length]?.take('who', slow));
  return (await Promise.all(asked)).filter((each) => each?.allowed).length;
}

describe('a counter in memory', () => {
  it('allows the burst, however many ask at once', async () => {
    expect(await burst(createMemoryCounter(() => 0))).toBe(20);
  });

  it('keeps a bounded number of names, and those that are in use', async () => {
    const counter = createMemoryCounter(() => 0, 1_000);
    for (let i = 0; i < slow.burst; i += 1) await counter.take('who', slow);
    for (let i = 0; i < 5_000; i += 1) {
      await counter.take(`address ${i}`, slow);
      if (i % 100 === 0) expect((await counter.take('who', slow)).allowed).toBe(false);
    }
    expect(counter.size()).toBeLessThanOrEqual(1_000);
    expect(counter.look('address 0', slow).allowed).toBe(true);
    expect(counter.look('who', slow).allowed).toBe(false);
  });
});

function ratesOf({ rates }: Store) {
  if (rates === null) throw new Error('replicas share no rates');
  return rates;
}

describe.each(engines.filter(({ name }) => name === 'PostgreSQL'))('two replicas on $name', (engine) => {
  it('allow together what one may, of ten times as many at once', async () => {
    await using database = await engine.createDatabase();
    const other = await openStore(database.location);
    const onFailure = (error: unknown) => {
      throw error;
    };
    const counters = [database.store, other].map((store) => createSharedCounter(ratesOf(store), { now, onFailure }));
    expect(await burst(...counters)).toBe(20);
    await other.close();
  });

  it('allow a request after the wait that either tells', async () => {
    await using database = await engine.createDatabase();
    const rates = ratesOf(database.store);
    const rate: Rate = { perMinute: 120, burst: 1 };
    const taking = { name: 'who', interval: intervalOf(rate), tolerance: toleranceOf(rate) };
    expect((await rates.take(taking)).allowed).toBe(true);
    const refused = await rates.take(taking);
    expect(refused.allowed).toBe(false);
    // So much later, by the clock of the database.
    const wait = waitOf(rate, refused.emptyAt, refused.now);
    await database.query(`update rates set empty_at = empty_at - ${wait}`);
    expect((await rates.take(taking)).allowed).toBe(true);
    await rates.removeEmpty();
    expect(await database.query('select name from rates')).toHaveLength(1);
  });

  it('count those that come at once together, and tell each how many are left behind it', async () => {
    await using database = await engine.createDatabase();
    const rates = ratesOf(database.store);
    const rate: Rate = { perMinute: 1, burst: 8 };
    const taking = { name: 'who', interval: intervalOf(rate), tolerance: toleranceOf(rate) };
    const takeAtOnce = async (count: number) => {
      const taken = await Promise.all(Array.from({ length: count }, () => rates.take(taking)));
      return taken.map((each) => `${each.allowed} ${remainingOf(rate, each.emptyAt, each.now)}`);
    };
    const statements = await recordStatements(async () => {
      expect(await takeAtOnce(6)).toEqual(['true 7', 'true 6', 'true 5', 'true 4', 'true 3', 'true 2']);
    });
    // A connection that is opened meanwhile sends statements of its own.
    expect(statements.map(nameOf).filter((name) => name === 'insert rates')).toHaveLength(2);
    expect(await takeAtOnce(4)).toEqual(['true 1', 'true 0', 'false 0', 'false 0']);
    await database.query('delete from rates');
    const oneByOne = await recordStatements(async () => {
      expect((await takeAtOnce(12)).filter((each) => each.startsWith('true'))).toHaveLength(8);
    });
    // More than ever come at once are not tried together, and after the first refusal nobody is.
    expect(oneByOne.map(nameOf).filter((name) => name === 'insert rates')).toHaveLength(9);
  });

  it('make no work for the database while a name is refused, and ask again when its time has come', async () => {
    let [time, asked] = [0, 0];
    const rate: Rate = { perMinute: 60, burst: 1 };
    const take = async () => {
      asked += 1;
      return { allowed: false, emptyAt: 5_000_000, now: 4_500_000 };
    };
    const rates = { take, removeEmpty: async () => 0 };
    const counter = createSharedCounter(rates, { now: () => time, onFailure: () => {} });
    for (let i = 0; i < 9; i += 1) expect((await counter.take('who', rate)).allowed).toBe(false);
    time = 499_999;
    expect(await counter.take('who', rate)).toEqual({ allowed: false, emptyAt: 500_000, now: time });
    expect(asked).toBe(1);
    time = 500_000;
    await counter.take('who', rate);
    expect(asked).toBe(2);
  });

  it('let every request through while it cannot be counted', async () => {
    await using database = await engine.createDatabase();
    await database.query('alter table rates rename to rates_gone');
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => void failures.push(error);
    const counter = createSharedCounter(ratesOf(database.store), { now, onFailure });
    await using world = await createWorld({ engine, perMinute: 1, counter });
    for (let i = 0; i < 3; i += 1) expect((await world.call('admin', 'GET', '/token/self')).status).toBe(200);
    expect(failures).toHaveLength(3);
  });
});
