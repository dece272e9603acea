import type { DatabaseSync } from 'node:sqlite';

/**
 * Prepares the connection that reads. Its reads share read transactions: all those of a turn of the event loop see one
 * state. One for each would take and free its locks each time, and throw away the pages that the connection has in memory
 * whenever a commit came in between.
 */
export function prepareReader(database: DatabaseSync) {
  const begin = database.prepare('BEGIN');
  const end = database.prepare('ROLLBACK');
  let scheduled = false;

  /** The next read sees all that is durable by then. A database that was closed in the meantime holds nothing. */
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
