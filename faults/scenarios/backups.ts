import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileStamp, toInstant } from '../../src/domain/time.ts';
import { drill, restore } from '../../src/operator/index.ts';
import { lkm } from '../command.ts';
import { startProducing } from '../produce.ts';
import { fail } from '../report.ts';
import { inWorlds, type Scenario, type WorldRound } from '../scenario.ts';
import { startProcess } from '../server-process.ts';

const CUSTOMERS_PER_SECOND = 400;
const BACKUPS = 8;
/** One of so many backups is killed, and before one of so many the server. */
const KILL_ODDS = 3;
const MAX_KILL_AFTER_MS = 1_500;

/** `lkm db backup` under load: each backup that is there restores, and holds what was acknowledged before it began. */
export const backups: Scenario = {
  name: 'backups',
  about:
    'kill -9 of lkm db backup and of the server under load; each backup that is there passes the drill and restores',
  engines: ['sqlite', 'postgres'],
  controls: [{ sabotage: 'backup-of-tomorrow', engine: 'sqlite' }],
  lacks: () => null,
  run: (run) => inWorlds(backups, run, play),
};

async function play({ run: { sabotage }, world, folder, report, random }: WorldRound): Promise<void> {
  let server = await startProcess(world.db, null);
  const started = performance.now();
  const allowed = () => ((performance.now() - started) / 1_000) * CUSTOMERS_PER_SECOND;
  const producing = startProducing({ urlOf: () => server.url, token: world.token, allowed });
  const taken: { readonly file: string; readonly acknowledged: number }[] = [];
  for (let at = 0; at < BACKUPS; at += 1) {
    await sleep(random.below(500));
    const file = join(folder, `backup-${at}.db`);
    const acknowledged = producing.acknowledged();
    const isKilled = at > 0 && random.below(KILL_ODDS) === 0;
    const taking = backUp(world.db, file, isKilled ? random.below(MAX_KILL_AFTER_MS) : null);
    if (random.below(KILL_ODDS) === 0) {
      await server.kill();
      server = await startProcess(world.db, null);
    }
    const { code, said } = await taking;
    // One that was killed is there as a whole, or not at all.
    if (existsSync(file)) taken.push({ file, acknowledged });
    else if (code !== null) fail(report, 'wrong', `backup ${at} ended with ${code}: ${said}`);
  }
  const made = [...(await producing.end())];
  await server.stop(10_000);
  report.acknowledged += made.length;
  for (const { file, acknowledged } of taken) {
    const now = toInstant(Date.now());
    const { problems } = await drill(file, { workPath: file, now, masterKey: null, licenseFiles: [] });
    for (const problem of problems) fail(report, 'lost', problem);
    const target = `${file}.restored`;
    await restore(file, target, { replace: false, stamp: fileStamp(now) });
    const there = customersIn(target);
    const expected = made.slice(0, sabotage === null ? acknowledged : made.length);
    const lost = expected.filter((id) => !there.has(id)).length;
    if (lost > 0) fail(report, 'lost', `a backup lacks ${lost} of ${expected.length} customers`);
  }
}

/** Runs the command, and kills it after so many milliseconds. The code is null when it was killed. */
async function backUp(db: string, file: string, killAfterMs: number | null) {
  const child = spawn(process.execPath, [lkm, 'db', 'backup', file, '--db', db], {
    env: { PATH: process.env.PATH, HOME: join(file, '..') },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const killing = killAfterMs === null ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const [said, [code]]: [string, (number | null)[]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  clearTimeout(killing);
  return { code: code ?? null, said };
}

function customersIn(path: string): Set<unknown> {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare('select id from customers').all();
  database.close();
  return new Set(rows.map(({ id }) => id));
}
