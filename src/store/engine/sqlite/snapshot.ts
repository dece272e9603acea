import type { DatabaseSync } from 'node:sqlite';

/** What a reading connection sees: one state of the database for all reads of a turn of the event loop. */
export interface Snapshot {
  /** Takes one, unless one is held; the end of the turn lets it go. */
  hold(): void;
  /** Lets it go now: the next read sees all that is durable by then. */
  release(): void;
}

/**
 * Makes reads share read transactions. One for each would take and free its locks each time, and throw away the
 * pages that the connection has in memory whenever a commit came in between.
 */
export function snapshotOf(database: DatabaseSync): Snapshot {
  const begin = database.prepare('BEGIN');
  const end = database.prepare('ROLLBACK');
  let scheduled = false;

  function release(): void {
    // A database that was closed in the meantime holds nothing.
    if (database.isOpen && database.isTransaction) end.run();
  }

  return {
    hold() {
      if (database.isTransaction) return;
      begin.run();
      if (scheduled) return;
      scheduled = true;
      setImmediate(() => {
        scheduled = false;
        release();
      });
    },
    release,
  };
}
