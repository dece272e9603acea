import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad } from '../load.ts';
import { watchPower } from '../power.ts';
import { findThread, lacksStrace } from '../process.ts';
import { count, fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';

const CLIENTS = 12;

/** So long a log that what clients still ask for when they are told to stop does not fill it. */
const ROOMY_LOG_PAGES = 2_000;

const BEGUN_ANEW = 'power cuts after the log had begun anew';

/** When the power is cut: at a random moment, while the thread copies the log, after the log has begun anew behind it. */
const moments = ['any', 'copying', 'copied'] as const;

/** A power cut under load: what was not synced is lost, all of it or a random part, sector by sector. */
export const powerLoss: Scenario = {
  name: 'power-loss',
  about: 'a power cut under load, also while the log is copied and after that: the files keep what was synced',
  engines: ['sqlite'],
  controls: [
    ['synchronous-normal', 'sqlite'],
    ['copied-unsynced', 'sqlite'],
  ],
  share: 5,
  shortRounds: 3,
  tries: { what: BEGUN_ANEW, rounds: 9 },
  lacks: lacksStrace,
  begin:
    () =>
    async ({ run, stage, report, random, index }) => {
      const { ledger, world, url } = stage;
      // What the copying thread leaves unsynced is missed only behind it.
      const moment = run.sabotage === 'copied-unsynced' ? 'copied' : moments[index % moments.length];
      const server = await stage.start(moment === 'any' ? {} : { walPages: ROOMY_LOG_PAGES });
      const power = await watchPower(server.pid, world.db);
      const options = { clients: CLIENTS, route: url };
      let load = startLoad(ledger, random, options);
      while (moment !== 'any' && findThread(server.pid) === null) await sleep(5);
      if (moment === 'copied') {
        await load.stop();
        await untilCopied(world.db);
        load = startLoad(ledger, random, options);
      }
      await sleep(random.between(20, moment === 'any' ? 800 : 200));
      if (moment === 'copied') {
        // Nobody waits for a server that may not start again.
        await load.stop();
        if (hasBegunAnew(logOf(world.db).log)) count(report, BEGUN_ANEW, 1);
      }
      await server.kill();
      count(report, 'writes that were not synced when the power was cut', await power.cut(random));
      await stage.start().catch(() => fail(report, 'lost', 'no server starts on what is left'));
      await load.stop();
      await stage.servers[0]?.kill();
    },
};

/** Waits until the whole log is copied, or has begun anew; five seconds at most. */
async function untilCopied(path: string): Promise<void> {
  for (let looks = 0; looks < 1_000; looks += 1) {
    const { log, checkpointed } = logOf(path);
    if (checkpointed === log || hasBegunAnew(log)) return;
    await sleep(5);
  }
}

/** How many pages the log of a SQLite database has, and how many of them are copied. */
function logOf(path: string): { readonly log: number; readonly checkpointed: number } {
  using database = new DatabaseSync(path, { readOnly: true });
  database.exec('select 1 from sqlite_master');
  return database.prepare('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number };
}

const hasBegunAnew = (pages: number): boolean => pages < ROOMY_LOG_PAGES / 2;
