import type { DatabaseSync } from 'node:sqlite';

/**
 * Prepares the connection that reads. All reads of one turn of the event loop share a read transaction and see one state. A
 * transaction per read would take its locks each time, and drop the cached pages after each commit in between.
 */
export function prepareReader(database: DatabaseSync) {
  const begin = database.prepare('BEGIN');
  const end = database.prepare('ROLLBACK');
  let scheduled = false;

  /** Ends the read transaction, so that the next read sees the latest commits; does nothing on a closed database. */
  function releaseSnapshot(): void {
    if (database.isOpen && database.isTransaction) end.run();
  }

  function endTurn(): void {
    scheduled = false;
    releaseSnapshot();
  }

  return {
    beginStatement(): void {
      if (database.isTransaction) return;
      begin.run();
      if (!scheduled) setImmediate(endTurn);
      scheduled = true;
    },
    releaseSnapshot,
  };
}
