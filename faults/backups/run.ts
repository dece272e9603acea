import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Instant } from '../../src/contract/scalars.ts';
import { fileStamp } from '../../src/domain/time.ts';
import { drill, restore } from '../../src/operator/index.ts';
import type { Cluster } from '../cluster.ts';
import { lkm } from '../command.ts';
import { startProducing } from '../produce.ts';
import type { Random } from '../random.ts';
import { type ServerProcess, startProcess } from '../server-process.ts';
import { type Engine, makeWorld, type World } from '../world.ts';

/** Settings of a run. */
export interface BackupsPlan {
  readonly engine: Engine;
  readonly cluster: Cluster | null;
  readonly seconds: number;
  /** Pause between two backups, at most. */
  readonly everySeconds: number;
  /** How often the server is killed, at random moments. */
  readonly kills: number;
  /** One of this many backups is killed. */
  readonly backupKillOdds: number;
  readonly random: Random;
  readonly say: (line: string) => void;
  /** Holds each backup to what was acknowledged when the run ended: a control, which must fail. */
  readonly asksForAll?: boolean;
}

/** Result of a run. */
export interface BackupsOutcome {
  readonly acknowledged: number;
  /** Backups that were taken whole. */
  readonly backups: number;
  /** Backups whose command was killed. */
  readonly killedBackups: number;
  readonly serverKills: number;
  /** Everything that is not as it should be. */
  readonly wrong: readonly string[];
}

/** A backup, and how many customers had been acknowledged when it began. */
interface Taken {
  readonly file: string;
  readonly acknowledged: number;
}

const CUSTOMERS_PER_SECOND = 400;

const MAX_KILL_AFTER_MS = 1_500;

/** Takes backups with the built command under load, while servers and backups are killed, and restores them all. */
export async function runBackups(plan: BackupsPlan): Promise<BackupsOutcome> {
  const world = await makeWorld(plan.engine, plan.cluster);
  const folder = mkdtempSync(join(tmpdir(), 'lkm-backups-'));
  try {
    return await play(plan, world, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await world.remove();
  }
}

async function play(plan: BackupsPlan, world: World, folder: string): Promise<BackupsOutcome> {
  const { seconds, random, say } = plan;
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1_000;
  const wrong: string[] = [];
  let server: ServerProcess | null = await startProcess(world.db, null);
  const producing = startProducing({
    urlOf: () => server?.url,
    token: world.token,
    count: Number.POSITIVE_INFINITY,
    allowed: () => elapsed() * CUSTOMERS_PER_SECOND,
  });

  let serverKills = 0;
  async function killServers(): Promise<void> {
    const moments = Array.from({ length: plan.kills }, () => random.below(seconds * 1_000)).sort((a, b) => a - b);
    for (const moment of moments) {
      await sleep(Math.max(0, moment - elapsed() * 1_000));
      await server?.kill();
      server = null;
      server = await startProcess(world.db, null);
      serverKills += 1;
    }
  }

  const taken: Taken[] = [];
  let killedBackups = 0;
  async function takeBackups(): Promise<void> {
    for (let at = 0; elapsed() < seconds; at += 1) {
      const file = join(folder, `backup-${at}.db`);
      const acknowledged = producing.acknowledged();
      const isKilled = random.below(plan.backupKillOdds) === 0;
      const { code, said } = await backUp(world.db, file, isKilled ? random.below(MAX_KILL_AFTER_MS) : null);
      if (code === null) killedBackups += 1;
      else if (code !== 0) wrong.push(`backup ${at} ended with ${code}: ${said}`);
      // One that was killed is there as a whole, or not at all.
      if (existsSync(file)) taken.push({ file, acknowledged });
      else if (code === 0) wrong.push(`backup ${at} is not there`);
      say(`${elapsed().toFixed(0)} s: ${code === null ? 'killed a backup' : 'a backup'}, ${acknowledged} acknowledged`);
      await sleep(random.below(plan.everySeconds * 1_000));
    }
  }

  await Promise.all([killServers(), takeBackups()]);
  const made = [...(await producing.end(() => true))];
  await server.stop(10_000);
  for (const { file, acknowledged } of taken) {
    say(`restoring ${file.slice(folder.length + 1)}`);
    wrong.push(...(await examine(file, made.slice(0, plan.asksForAll ? made.length : acknowledged))));
  }
  return { acknowledged: made.length, backups: taken.length, killedBackups, serverKills, wrong };
}

/** Runs the command; kills it after so many milliseconds. The code is null when it was killed. */
async function backUp(db: string, file: string, killAfterMs: number | null) {
  const child: ChildProcess = spawn(process.execPath, [lkm, 'db', 'backup', file, '--db', db], {
    env: { PATH: process.env.PATH, HOME: join(file, '..') },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const killing = new AbortController();
  if (killAfterMs !== null) {
    void sleep(killAfterMs, undefined, { signal: killing.signal }).then(
      () => child.kill('SIGKILL'),
      () => {},
    );
  }
  const [said, [code]] = await Promise.all([child.stderr === null ? '' : text(child.stderr), once(child, 'exit')]);
  killing.abort();
  return { code: code as number | null, said };
}

/** What is wrong with a backup that has to hold these customers: it passes the drill, and restores to them. */
async function examine(file: string, customers: readonly string[]): Promise<string[]> {
  const now = new Date().toISOString() as Instant;
  const target = `${file}.restored`;
  try {
    const { problems } = await drill(file, { workPath: file, now, masterKey: null, licenseFiles: [] });
    await restore(file, target, { replace: false, stamp: fileStamp(now) });
    const there = customersIn(target);
    const lost = customers.filter((id) => !there.has(id));
    return [
      ...problems.map((problem) => `${file}: ${problem}`),
      ...(lost.length > 0 ? [`${file} lacks ${lost.length} of ${customers.length} customers`] : []),
    ];
  } catch (error) {
    return [`${file} cannot be restored: ${error}`];
  } finally {
    for (const end of ['', '-wal', '-shm', '-owner']) rmSync(`${target}${end}`, { force: true });
  }
}

function customersIn(path: string): Set<unknown> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return new Set(
      database
        .prepare('select id from customers')
        .all()
        .map(({ id }) => id),
    );
  } finally {
    database.close();
  }
}
