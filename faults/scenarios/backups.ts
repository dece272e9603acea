import { existsSync, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileStamp, toInstant } from '../../src/domain/time.ts';
import { createRandom, restoreBackup, tryBackup } from '../../src/operator/index.ts';
import { startLoad } from '../load.ts';
import { createCustomer } from '../operations.ts';
import { lkm, start } from '../process.ts';
import { fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import { readSqlite } from '../snapshot.ts';

/** About 400 customers per second. */
const LOAD = { clients: 8, pauseMs: 20, only: createCustomer };
const BACKUPS = 8;
/** One of so many backups is killed, and before one of so many the server. */
const KILL_ODDS = 3;
const MAX_KILL_AFTER_MS = 1_500;

/** `lkm db backup` under load: each backup that is there restores, and holds what was acknowledged before it began. */
export const backups: Scenario = {
  name: 'backups',
  about:
    'kill -9 of lkm db backup and of the server under load; each backup that is there passes the dry run and restores',
  engines: ['sqlite'],
  controls: [['backup-of-tomorrow', 'sqlite']],
  share: 2,
  shortRounds: 1,
  begin:
    () =>
    async ({ run: { sabotage }, stage, report, random }) => {
      using folder = mkdtempDisposableSync(join(tmpdir(), 'lkm-faults-home-'));
      const env = { PATH: process.env.PATH, HOME: folder.path };
      await stage.haveServers(1);
      const load = startLoad(stage.ledger, random, { ...LOAD, route: stage.url });
      const answered = () => stage.ledger.intents.filter(({ answers }) => answers.length > 0);
      const taken: { readonly file: string; readonly before: ReturnType<typeof answered> }[] = [];
      for (let at = 0; at < BACKUPS; at += 1) {
        await sleep(random.below(500));
        const file = join(folder.path, `backup-${at}.db`);
        const before = answered();
        const isKilled = at > 0 && random.below(KILL_ODDS) === 0;
        const timeout = isKilled ? { timeout: 1 + random.below(MAX_KILL_AFTER_MS) } : {};
        const taking = start([...lkm, 'db', 'backup', file, '--db', stage.world.db], { env, ...timeout });
        if (random.below(KILL_ODDS) === 0) {
          await stage.servers[0]?.kill();
          await stage.haveServers(1);
        }
        const code = await taking.ended;
        // One that was killed is there as a whole, or not at all.
        if (existsSync(file)) taken.push({ file, before });
        else if (code !== 'SIGKILL') fail(report, 'wrong', `backup ${at} ended with ${code}: ${taking.said()}`);
      }
      await load.stop();
      for (const { file, before } of taken) {
        const now = toInstant(Date.now());
        const sealing = { masterKey: null, random: createRandom() };
        const problem = await tryBackup(file, { workPath: file, sealing }).then(
          () => null,
          ({ message }: Error) => message,
        );
        if (problem !== null) {
          fail(report, 'lost', problem);
          continue;
        }
        const target = `${file}.restored`;
        await restoreBackup(file, target, { replace: false, stamp: fileStamp(now) });
        const { customers } = readSqlite(target);
        const expected = sabotage === null ? before : answered();
        const lost = expected.filter(({ mark }) => !customers.has(mark)).length;
        if (lost > 0) fail(report, 'lost', `a backup lacks ${lost} of ${expected.length} customers`);
      }
    },
};
