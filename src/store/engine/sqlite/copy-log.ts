import type { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { startThread } from './thread.ts';

/** How full the log is when the thread begins. The commits that come while it copies then fit into what is left. */
const BEGINS_AT = 7 / 8;

/** From this length on, a log is too long: it was to begin anew at its full size, and somebody reads an old state of it. */
const TOO_LONG_AT = 9 / 8;

const THREAD = 'lkm-copies-log';

/**
 * Copies the log of a database into its file in a thread of its own, while others read and write: a passive checkpoint
 * (sqlite.org/pragma.html#pragma_wal_checkpoint). In the one thread that serves everybody it would last as long as
 * hundreds of commits.
 *
 * Nothing depends on the thread. The connection that writes copies what is left when the log has its full size, and begins
 * it anew: all of it where the thread is late, has failed, or never started.
 *
 * @param path absolute
 * @param writer whose `wal_autocheckpoint` is the full size of the log, in pages
 * @param reader another connection, which is in no transaction when it is asked
 */
export function copyLogBeside(path: string, writer: DatabaseSync, reader: DatabaseSync) {
  const full = writer.prepare('PRAGMA wal_autocheckpoint').get() as { wal_autocheckpoint: number };
  const beginsAt = full.wal_autocheckpoint * BEGINS_AT;
  const tooLongAt = full.wal_autocheckpoint * TOO_LONG_AT;
  const look = reader.prepare('PRAGMA wal_checkpoint(NOOP)');
  let worker: Worker | null = null;
  /** How long the log was when the thread was asked last; 0 when it has begun anew since. */
  let askedAt = 0;
  /** How long the log was when it was looked at last. */
  let length = 0;

  return {
    /** Has the log copied when it is nearly full, or has grown by as much again; to be called with each commit. */
    copyLongLog(): void {
      try {
        const { log, checkpointed } = look.get() as { log: number; checkpointed: number };
        length = log;
        if (log < askedAt) askedAt = 0;
        if (log - Math.max(checkpointed, askedAt) < beginsAt) return;
        askedAt = log;
        worker ??= startThread(String(copyWhenAsked), { name: THREAD, path, mode: 'rw' }).on('exit', () => {
          worker = null;
        });
        worker.postMessage(null);
      } catch {
        // The system has no room for a further thread; or the log cannot be read, which shows at the commit.
      }
    },
    /** Whether the log was too long at the last commit. */
    isTooLong: () => length > tooLongAt,
    /** Ends the thread; to be called before the connections are closed. */
    async close(): Promise<void> {
      await worker?.terminate();
    },
  };
}

/** What the thread runs. */
function copyWhenAsked(url: string): void {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  const database = new DatabaseSync(url);
  database.exec('PRAGMA synchronous=FULL');
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  parentPort?.on('message', () => {
    try {
      // SQLite syncs the file only in a pass beside which no commit came; a commit would have to wait for that sync later.
      for (let pass = 0; pass < 5; pass += 1) checkpoint.get();
    } catch {
      // The log stays as it is. A disk that fails shows at the next commit.
    }
  });
}
