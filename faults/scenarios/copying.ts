import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { underLoad } from '../load.ts';
import { findThread, lacksStrace, trace } from '../process.ts';
import { fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';

/** A log so short that its thread always has something to copy. */
export const SHORT_LOG_PAGES = 400;

/** More than a log takes whose thread copies nothing: a commit of all clients, and what readers keep from being begun anew. */
const MOST_LOG_PAGES = 2_000;

const CLIENTS = 12;

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
        const log = logPages(stage.world.db);
        if (trouble.bounded && log > MOST_LOG_PAGES) {
          fail(report, 'wrong', `${log} pages in the log, with a thread ${trouble.name}`);
        }
        if (random.below(2) === 0) await server.kill();
        await detach();
        await stage.haveServers(1, { walPages: SHORT_LOG_PAGES });
      });
    },
};

/** Waits for the thread that copies the log. */
export async function copyingThread(pid: number): Promise<number> {
  for (;;) {
    const thread = findThread(pid);
    if (thread !== null) return thread;
    await sleep(5);
  }
}

/** How many pages the log of a SQLite database has. */
export function logPages(path: string): number {
  using database = new DatabaseSync(path, { readOnly: true });
  database.exec('select 1 from sqlite_master');
  return Number(database.prepare('PRAGMA wal_checkpoint(NOOP)').get()?.log);
}
