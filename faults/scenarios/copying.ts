import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { underLoad } from '../load.ts';
import { findCopyingThread, lacksStrace, trace } from '../process.ts';
import { count, fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';

/** A log so short that its thread always has something to copy. */
export const SHORT_LOG = 400;

/** More than a log takes whose thread copies nothing: a commit of all clients, and what readers keep from being begun anew. */
const LONG_LOG = 2_000;

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
      const server = await stage.haveServers(1, { walPages: SHORT_LOG });
      const trouble = troubles[index % troubles.length] as (typeof troubles)[number];
      await underLoad(stage.ledger, random, { clients: 12, route: stage.url }, async () => {
        let thread = findCopyingThread(server.pid);
        for (; thread === null; thread = findCopyingThread(server.pid)) await sleep(5);
        const detach = await trace(thread, ['-e', `trace=${CALLS}`, '-e', `inject=${trouble.inject}`]);
        await sleep(random.between(300, 1_500));
        const pages = pagesInLog(stage.world.db);
        count(report, `pages in the log at most, when the thread is ${trouble.name}`, pages);
        if (trouble.bounded && pages > LONG_LOG)
          fail(report, 'wrong', `${pages} pages in the log, with a thread ${trouble.name}`);
        if (random.below(2) === 0) await server.kill();
        await detach();
        await stage.haveServers(1, { walPages: SHORT_LOG });
      });
    },
};

function pagesInLog(path: string): number {
  using database = new DatabaseSync(path, { readOnly: true });
  database.exec('select 1 from sqlite_master');
  return Number(database.prepare('PRAGMA wal_checkpoint(NOOP)').get()?.log);
}
