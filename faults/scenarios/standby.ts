import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../test/support/postgres.ts';
import { type PostgresPair, startPair } from '../../test/support/postgres-server.ts';
import { makeKey, underLoad } from '../load.ts';
import { count } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import { readPostgres } from '../snapshot.ts';
import { prepare, type World } from '../world.ts';

const CLIENTS = 8;

const WAITING = `from pg_stat_activity where wait_event = 'SyncRep'`;

/** What happens to commits that wait for the standby, before the primary is lost. */
const ends: readonly ((pair: PostgresPair) => Promise<unknown>)[] = [
  ({ url }) => query(url, `select pg_cancel_backend(pid) ${WAITING}`),
  ({ url }) => query(url, `select pg_terminate_backend(pid) ${WAITING}`),
  (pair) => pair.restart(),
  (pair) => pair.restartAtOnce(),
  async () => {},
];

/** A synchronous standby is away, commits wait for it and lose it, and then it takes over from the primary. */
export const standby: Scenario = {
  name: 'standby',
  about: 'commits wait for a standby that is away, are ended on the primary alone, and the standby takes over',
  engines: ['postgres'],
  controls: [
    ['replays-unconfirmed', 'postgres'],
    ['commit-warning-ignored', 'postgres'],
  ],
  share: 4,
  shortRounds: ends.length,
  tries: { what: 'commits that waited for the standby', rounds: 1 },
  lacks: (cluster) => (cluster?.restart ? null : 'this PostgreSQL is not ours to stop'),
  newWorld: makePairWorld,
  begin:
    () =>
    async ({ stage, report, random, index }) => {
      const { pair } = stage.world;
      if (pair === undefined) throw new Error('the world has no standby');
      if (index > 0) await pair.renewStandby();
      await synchronise(pair);
      await stage.haveServers(2);
      // A change that works ends the doubts of the round before, in which changes are not even sent.
      await makeKey(stage.ledger, 1, () => stage.url(0));
      // The other replica knows nothing of what the first one has waited for.
      let isEnded = false;
      const route = (attempt: number) => stage.url(isEnded ? attempt : 0);
      await underLoad(stage.ledger, random, { clients: CLIENTS, route }, async () => {
        await sleep(random.between(50, 500));
        await pair.stopStandby();
        const waiting = await until(pair, `select pid ${WAITING}`);
        count(report, 'commits that waited for the standby', waiting.length);
        await ends[index % ends.length]?.(pair);
        isEnded = true;
        await sleep(random.between(100, 1_500));
        await pair.failOver();
      });
    },
};

/** Has commits wait for the standby from now on. */
async function synchronise(pair: PostgresPair): Promise<void> {
  await query(pair.url, `alter system set synchronous_standby_names = 's1'`);
  await query(pair.url, 'select pg_reload_conf()');
  await until(pair, `select 1 from pg_stat_replication where sync_state = 'sync'`);
}

const TIMEOUT_MS = 10_000;

/** Asks the primary until there are rows, or the time is over. */
async function until({ url }: PostgresPair, text: string) {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const rows = await query(url, text);
    if (rows.length > 0 || performance.now() > deadline) return rows;
    await sleep(20);
  }
}

/** A database on a primary and a standby of its own. */
async function makePairWorld(): Promise<World> {
  const pair = await startPair({ max_connections: 60 });
  const read = () => readPostgres(pair.url);
  return {
    engine: 'postgres',
    db: pair.both,
    ...(await prepare(pair.url)),
    through: [],
    pair,
    read,
    remove: pair.stop,
  };
}
