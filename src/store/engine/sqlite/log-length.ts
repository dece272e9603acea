import type { DatabaseSync } from 'node:sqlite';

/** How full the log is when it is to be copied. The commits that come meanwhile then fit into what is left. */
const NEARLY_FULL = 7 / 8;

/** A log of this length, in full sizes, is too long: a reader of an old state keeps it from beginning anew. */
const TOO_LONG = 9 / 8;

/**
 * Watches how long the log of a database grows, and has a thread copy it into the file: in the one thread that serves
 * everybody this would last as long as hundreds of commits.
 *
 * Nothing depends on that thread. The connection that writes copies what is left when the log has its full size, and begins it
 * anew: all of it where the thread is late or has failed, or where there is none.
 *
 * @param writer whose `wal_autocheckpoint` is the full size of the log, in pages
 * @param reader another connection, which is in no transaction when it is asked
 */
export function watchLog(writer: DatabaseSync, reader: DatabaseSync) {
  const full = writer.prepare('PRAGMA wal_autocheckpoint').get() as { wal_autocheckpoint: number };
  const nearlyFull = full.wal_autocheckpoint * NEARLY_FULL;
  const tooLong = full.wal_autocheckpoint * TOO_LONG;
  const look = reader.prepare('PRAGMA wal_checkpoint(NOOP)');
  let copy: (() => void) | null = null;
  /** The length of the log when the copy was last asked for; 0 when the log has begun anew since. */
  let copiedAt = 0;
  /** The length of the log at the last look, in pages. */
  let length = 0;

  return {
    /** Asks for a copy of the log when it is nearly full, and each time it has grown by as much again. Call it with each commit. */
    look(): void {
      if (copy === null) return;
      try {
        const { log, checkpointed } = look.get() as { log: number; checkpointed: number };
        length = log;
        if (log < copiedAt) copiedAt = 0;
        if (log - Math.max(checkpointed, copiedAt) < nearlyFull) return;
        copiedAt = log;
        copy();
      } catch {
        // No room for a thread, or a log that cannot be read: the next commit shows the second.
      }
    },
    /** Whether the log was too long at the last commit. */
    isTooLong: () => length > tooLong,
    /** From now on, has `work` copy the log. */
    copyBy(work: () => void): void {
      copy = work;
    },
  };
}
