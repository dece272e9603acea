import { setTimeout as sleep } from 'node:timers/promises';
import { openCluster } from '../faults/cluster.ts';
import { partitionDatabase } from '../src/operator/databases.ts';
import { query } from '../test/support/postgres.ts';
import { endUnavailable, startPostgres } from '../test/support/postgres-server.ts';
import { startStandby } from '../test/support/standby.ts';
import { inTurns, TURN_SECONDS, TURNS, WARM_UP_SECONDS } from './compare.ts';
import { type Fixture, makeDatabase } from './database.ts';
import { type Running, type Side, start } from './measure.ts';
import { print } from './print.ts';

/** How many keys each database holds. */
const KEYS = 1_000;

/** Statements that PostgreSQL counts once a connection has been silent for so long, in milliseconds. */
const COUNTED_AFTER_MS = 1_500;

/** Prints what partitions cost, and what a standby takes from its primary; all of it shares this machine. */
export async function benchScale(partitions: number): Promise<void> {
  await besidePartitions(partitions);
  await besideStandby();
}

async function besidePartitions(partitions: number): Promise<void> {
  const cluster = await openCluster().catch(endUnavailable);
  try {
    print('\nPostgreSQL', 'whole tables', `${partitions} partitions`, 'ratio');
    for (const operation of ['create-key once', 'get'] as const) {
      const whole = await makeDatabase(KEYS, cluster);
      const divided = await makeDatabase(KEYS, cluster);
      await partitionDatabase(divided.db, partitions, () => {});
      // Dividing analyses the tables: else the planner would know more of one side than of the other.
      for (const { db } of [whole, divided]) await query(db, 'analyze');
      const plain: Side = { server: 'lkm serve', fixture: whole };
      const parts: Side = { server: 'lkm serve', fixture: divided };
      // In both orders: the side that is loaded second has been 1.3 times as fast as an equal one before it.
      const first = await inTurns(operation, plain, parts);
      const second = await inTurns(operation, parts, plain);
      print(operation, first.one.rate, first.other.rate, first.ratio);
      print('  other order', second.other.rate, second.one.rate, 1 / second.ratio);
      print('  together', '', '', Math.sqrt(first.ratio / second.ratio));
      await whole.remove();
      await divided.remove();
    }
  } finally {
    await cluster.close();
  }
}

/** Reads, and the statements that the primary runs for each of them. */
async function besideStandby(): Promise<void> {
  const primary = await startPostgres({});
  const standby = await startStandby(primary.url);
  try {
    const fixture = await makeDatabase(KEYS, {
      ...{ restart: null, crash: null, close: async () => {}, dropDatabase: async () => {} },
      createDatabase: async () => primary.url,
    });
    const one = await start({ server: 'lkm serve', fixture });
    process.env.LKM_DB_READ = standby.url;
    const other = await start({ server: 'lkm serve', fixture });
    delete process.env.LKM_DB_READ;
    try {
      const [before, after] = [await readsOf(one, fixture), await readsOf(other, fixture)];
      const ratios: number[] = [];
      for (let turn = 0; turn < TURNS; turn += 1) {
        const rate = await one.load('get', TURN_SECONDS);
        ratios.push((await other.load('get', TURN_SECONDS)) / rate);
      }
      print('\nget', 'primary alone', 'and a standby', 'ratio');
      print('requests', before.rate, after.rate, middle(ratios));
      print('  on primary', before.statements, after.statements, after.statements / before.statements);
    } finally {
      await one.stop();
      await other.stop();
      await fixture.remove();
    }
  } finally {
    await standby.stop();
    await primary.stop();
  }
}

/** How many requests per second there are, and statements on the primary for each. */
async function readsOf(server: Running, { db }: Fixture): Promise<{ rate: number; statements: number }> {
  const count = async () => {
    await sleep(COUNTED_AFTER_MS);
    const [row] = await query(
      db,
      'select xact_commit as count from pg_stat_database where datname = current_database()',
    );
    return Number(row?.count);
  };
  const before = await count();
  const rate = await server.load('get', WARM_UP_SECONDS);
  return { rate, statements: ((await count()) - before) / (rate * WARM_UP_SECONDS) };
}

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
