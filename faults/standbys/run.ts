import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountId, Instant } from '../../src/contract/scalars.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { connect } from '../../test/support/postgres.ts';
import { startPostgres } from '../../test/support/postgres-server.ts';
import { type StandbyServer, startStandby } from '../../test/support/standby.ts';
import type { Random } from '../random.ts';

/** Settings of a run. */
export interface StandbyPlan {
  /** Writes that are each followed by a read on the other server. */
  readonly pairs: number;
  /** How long the standby stops replaying, at most, now and then. */
  readonly pauseMs: number;
  /** How often it is killed and started again meanwhile. */
  readonly kills: number;
  readonly random: Random;
}

/** Result of a run. */
export interface StandbyOutcome {
  readonly pairs: number;
  /** Reads that did not find what was acknowledged before them. */
  readonly stale: number;
  readonly fromStandby: number;
  readonly fromPrimary: number;
  readonly kills: number;
}

/** Pairs that run at one time. */
const WORKERS = 4;

/** Writes through one server and reads through another at once, while their standby replays late, or is killed. */
export async function runStandbyPairs(plan: StandbyPlan): Promise<StandbyOutcome> {
  const primary = await startPostgres({ fsync: 'off' });
  try {
    const standby = await startStandby(primary.url);
    const open = () => openStore(primary.url, { standbys: [standby.url] });
    await (await openStore(primary.url)).close();
    const servers = [await open(), await open()] as const;
    const readsOf = (from: 'standby' | 'primary') =>
      servers.reduce((sum, { standbys }) => sum + (standbys?.reads[from] ?? 0), 0);
    const ending = new AbortController();
    const disturbing = disturb(standby, plan, ending.signal);
    try {
      const workers = Array.from({ length: WORKERS }, (_, i) => pairs(servers, i, Math.ceil(plan.pairs / WORKERS)));
      const stale = (await Promise.all(workers)).reduce((sum, one) => sum + one, 0);
      ending.abort();
      const kills = await disturbing;
      const done = Math.ceil(plan.pairs / WORKERS) * WORKERS;
      return { pairs: done, stale, fromStandby: readsOf('standby'), fromPrimary: readsOf('primary'), kills };
    } finally {
      ending.abort();
      await Promise.all(servers.map((server) => server.close()));
      await standby.stop();
    }
  } finally {
    await primary.stop();
  }
}

/** Writes and reads in turn, each time through the other server; returns how many reads were stale. */
async function pairs(servers: readonly [Store, Store], worker: number, count: number): Promise<number> {
  let stale = 0;
  const idOf = (i: number) => `acc_${worker}_${String(i).padStart(8, '0')}` as AccountId;
  for (let i = 1; i <= count; i += 1) {
    const [writer, reader] = i % 2 === 0 ? servers : [servers[1], servers[0]];
    const id = idOf(i);
    await writer.transaction(({ accounts }) => accounts.insert({ id, name: id, createdAt: '' as Instant }));
    if ((await reader.repositories.accounts.next(idOf(i - 1))) !== id) stale += 1;
  }
  return stale;
}

/** Pauses the replay of a standby for random times, and kills it; returns how often it was killed. */
async function disturb(standby: StandbyServer, plan: StandbyPlan, signal: AbortSignal): Promise<number> {
  const { pauseMs, random } = plan;
  let kills = 0;
  const wait = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
  while (!signal.aborted) {
    const admin = await connect(standby.url);
    admin.on('error', () => {});
    for (let i = 0; i < 20 && !signal.aborted; i += 1) {
      await admin.query('select pg_wal_replay_pause()');
      await wait(random.below(pauseMs));
      await admin.query('select pg_wal_replay_resume()');
      await wait(random.below(pauseMs));
    }
    await admin.end();
    if (kills === plan.kills || signal.aborted) continue;
    await standby.kill();
    await wait(random.below(1_000));
    await standby.start();
    kills += 1;
  }
  return kills;
}
