import type { DatabaseSync } from 'node:sqlite';

/** How full the log is when copying starts, so that commits during the copy still fit. */
const NEARLY_FULL = 7 / 8;

/** A log longer than this, in full sizes, is too long: a reader of an old state keeps it from starting anew. */
const TOO_LONG = 9 / 8;

/**
 * Watches the length of the log, and lets a thread copy the log into the file: on the main thread, a copy takes as long as
 * hundreds of commits.
 *
 * The thread is optional. When the log has its full size, the connection that writes copies the rest and starts the log anew;
 * without a working thread it copies all of it.
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
    /** Starts a copy when the log is nearly full, and again each time it has grown by as much. Call it after each commit. */
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
        // The thread could not start, or the log cannot be read; the next commit reports the latter.
      }
    },
    /** Whether the log was too long at the last commit. */
    isTooLong: () => length > tooLong,
    /** Registers `work`, which copies the log. */
    copyBy(work: () => void): void {
      copy = work;
    },
  };
}
