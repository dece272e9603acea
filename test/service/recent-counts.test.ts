import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import type { Context } from '../../src/service/context.ts';
import { recentCounts } from '../../src/service/recent-counts.ts';

/** A service with so many keys, and how often they were counted. */
function openService(total: number) {
  const repositories = {} as Context['repositories'];
  let counted = 0;
  let failure: Error | null = null;
  return {
    counted: () => counted,
    fail(error: Error | null) {
      failure = error;
    },
    /** Asks at a time of one day. */
    at: (time: string, name = 'account') => {
      const now = `2026-11-26T${time}.000Z` as Instant;
      return recentCounts({ repositories, now }, name, async () => {
        counted += 1;
        if (failure !== null) throw failure;
        return { countedAt: now, keys: { total } };
      });
    },
  };
}

it('counts few keys each time', async () => {
  const { at, counted } = openService(25_000);
  await at('10:00:00');
  expect((await at('10:00:00')).countedAt).toBe('2026-11-26T10:00:00.000Z');
  expect(counted()).toBe(2);
});

it('counts many once a minute, meanwhile giving what it has, and waits after an hour', async () => {
  const { at, counted } = openService(25_001);
  const countedAt = async (time: string) => (await at(time)).countedAt.slice(11, 19);
  expect(await countedAt('10:00:00')).toBe('10:00:00');
  expect(await countedAt('10:00:59')).toBe('10:00:00');
  expect([(await at('10:00:59')).age, counted()]).toEqual([59, 1]);
  expect(await Promise.all(['10:01:00', '10:01:00'].map(countedAt))).toEqual(['10:00:00', '10:00:00']);
  await nextTurn();
  expect(counted()).toBe(2);
  expect(await countedAt('10:01:30')).toBe('10:01:00');
  expect((await at('10:59:00')).age).toBe(58 * 60);
  await nextTurn();
  expect((await at('11:59:00')).age).toBe(0);
});

it('counts again when the clock was set back, for another name, and after a failure that nobody saw', async () => {
  const { at, counted, fail } = openService(30_000);
  await at('10:00:00');
  expect((await at('09:59:59')).countedAt).toBe('2026-11-26T09:59:59.000Z');
  await at('09:59:59', 'one product');
  expect(counted()).toBe(3);
  fail(new Error('the database is away'));
  await at('10:02:00');
  await nextTurn();
  fail(null);
  await at('10:02:00');
  await nextTurn();
  expect((await at('10:02:01')).countedAt).toBe('2026-11-26T10:02:00.000Z');
});
