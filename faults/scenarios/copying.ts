import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad, underLoad } from '../load.ts';
import { watchPower } from '../power.ts';
import { findThread, lacksStrace, trace } from '../process.ts';
import { count, fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';

/** A log so short that its thread always has something to copy. */
export const SHORT_LOG_PAGES = 400;

/** More than a log takes whose thread copies nothing: a commit of all clients, and what readers keep from being begun anew. */
const MOST_LOG_PAGES = 2_000;

const CLIENTS = 12;

const BEGUN_ANEW = 'power cuts after the log had begun anew';

const CALLS = 'pwrite64,fsync,fdatasync';

/** What befalls the thread, and whether the server can begin its log anew beside it. */
const troubles = [
  { name: 'slow', inject: `${CALLS}:delay_enter=20ms`, bounded: false },
  { name: 'stopped', inject: `${CALLS}:delay_enter=3s`, bounded: false },
  { name: 'without writes', inject: 'pwrite64:error=EIO', bounded: true },
  { name: 'without room', inject: 'pwrite64:error=ENOSPC', bounded: true },
  { name: 'without syncs', inject: 'fsync,fdatasync:error=EIO', bounded: true },
] as const;

/** Trouble in the thread that copies SQLite's log: no answer is changed by it, and the log does not grow without end. */
export const copying: Scenario = {
  name: 'copying',
  about:
    'the thread that copies the log is slow, stopped, or cannot write or sync; in half of the rounds the server is killed',
  engines: ['sqlite'],
  controls: [
    ['copied-by-thread-alone', 'sqlite'],
    ['early-answer', 'sqlite'],
  ],
  share: 2,
  shortRounds: troubles.length,
  lacks: lacksStrace,
  begin:
    () =>
    async ({ stage, report, random, index }) => {
      const server = await stage.haveServers(1, { walPages: SHORT_LOG_PAGES });
      const trouble = troubles[index % troubles.length] as (typeof troubles)[number];
      await underLoad(stage.ledger, random, { clients: CLIENTS, route: stage.url }, async () => {
        const thread = await copyingThread(server.pid);
        const detach = await trace(thread, ['-e', `trace=${CALLS}`, '-e', `inject=${trouble.inject}`]);
        await sleep(random.between(300, 1_500));
        const { log } = lookAtLog(stage.world.db);
        if (trouble.bounded && log > MOST_LOG_PAGES) {
          fail(report, 'wrong', `${log} pages in the log, with a thread ${trouble.name}`);
        }
        if (random.below(2) === 0) await server.kill();
        await detach();
        await stage.haveServers(1, { walPages: SHORT_LOG_PAGES });
      });
    },
};

/** So long a log that what clients still ask for when they are told to stop does not fill it. */
const ROOMY_LOG_PAGES = 2_000;

/** A power cut while the thread copies, or when the log has begun anew behind it: what it copied has to be on the disk. */
export const copiedLoss: Scenario = {
  name: 'copied-loss',
  about: 'a power cut while a thread copies the log, or when the log has begun anew after it',
  engines: ['sqlite'],
  controls: [['copied-unsynced', 'sqlite']],
  share: 2,
  shortRounds: 2,
  tries: { what: BEGUN_ANEW, rounds: 6 },
  lacks: lacksStrace,
  begin:
    () =>
    async ({ stage, report, random, index }) => {
      const { ledger, world, url } = stage;
      const server = await stage.start({ walPages: ROOMY_LOG_PAGES });
      const power = await watchPower(server.pid, world.db);
      const options = { clients: CLIENTS, route: url };
      const filling = startLoad(ledger, random, options);
      await copyingThread(server.pid);
      let load = filling;
      if (index % 2 === 0) {
        await filling.stop();
        await untilCopied(world.db);
        load = startLoad(ledger, random, options);
      }
      await sleep(random.between(20, 200));
      // Nobody waits for a server that may not start again.
      if (index % 2 === 0) await load.stop();
      if (hasBegunAnew(lookAtLog(world.db).log)) count(report, BEGUN_ANEW, 1);
      await server.kill();
      count(report, 'writes that were not synced when the power was cut', await power.cut(random));
      await stage.start().catch(() => fail(report, 'lost', 'no server starts on what is left'));
      await load.stop();
      await stage.servers[0]?.kill();
    },
};

async function copyingThread(pid: number): Promise<number> {
  for (;;) {
    const thread = findThread(pid);
    if (thread !== null) return thread;
    await sleep(5);
  }
}

/** Waits until the whole log is copied, or has begun anew; five seconds at most. */
async function untilCopied(path: string): Promise<void> {
  for (let looks = 0; looks < 1_000; looks += 1) {
    const { log, checkpointed } = lookAtLog(path);
    if (checkpointed === log || hasBegunAnew(log)) return;
    await sleep(5);
  }
}

const hasBegunAnew = (pages: number): boolean => pages < ROOMY_LOG_PAGES / 2;

function lookAtLog(path: string): { readonly log: number; readonly checkpointed: number } {
  using database = new DatabaseSync(path, { readOnly: true });
  database.exec('select 1 from sqlite_master');
  return database.prepare('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number };
}
