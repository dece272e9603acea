import type { DatabaseSync } from 'node:sqlite';

/**
 * Prepares the connection that reads. Its reads share read transactions: all those of a turn of the event loop see one
 * state. One for each would take and free its locks each time, and throw away the pages that the connection has in memory
 * whenever a commit came in between.
 */
export function prepareReader(database: DatabaseSync) {
  const rowsRead = countRowsRead(database, MAX_ROWS_READ, EVERY);
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
      rowsRead.begin();
      if (database.isTransaction) return;
      begin.run();
      if (!scheduled) setImmediate(endTurn);
      scheduled = true;
    },
    /** Whether the last statement was ended, since it would have held up everybody. */
    isTooBroad: rowsRead.isOver,
    releaseSnapshot,
  };
}

/** Rows that a statement may read in the one thread that serves everybody: milliseconds. */
const MAX_ROWS_READ = 10_000;

/** One row in so many is counted, as so many: a prime, so that this is right of rows at equal distances too. */
export const EVERY = 61;

/**
 * Counts the rows that statements of a connection read, and ends one that reads more than `most`. SQLite cannot be interrupted
 * from the thread that it runs in, so a view stands before each table, with a function among its conditions: no statement
 * can go round it, and the planner sees through it. To call the function takes longer than to read a row of an index, so
 * it is called for one row in `every`; in a table without row ids, for each.
 *
 * It is sent to a thread as text, so it uses nothing of this module.
 */
export function countRowsRead(database: DatabaseSync, most: number, every: number) {
  let rows = 0;
  database.function('lkm_count_rows', (number, _column) => {
    rows += Number(number);
    if (rows > most) throw new Error(`a statement has read more than ${most} rows`);
    return 1;
  });
  // Each table, with the last column of its key.
  const tables = database.prepare(`
    select t.name, c.name as key, max(c.pk), not t.wr as hasRowIds
    from pragma_table_list as t, pragma_table_info(t.name) as c
    where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite_%' and c.pk > 0
    group by t.name`);
  for (const { name, key, hasRowIds } of tables.all()) {
    // The column binds the call to the rows of this table: in a join it would else run in the outermost loop alone.
    const count = (number: number) => `lkm_count_rows(${number}, "${key}" is '')`;
    const condition = hasRowIds ? `(rowid % ${every} or ${count(every)})` : count(1);
    database.exec(`create temp view "${name}" as select * from main."${name}" where ${condition}`);
  }
  return {
    /** Begins to count anew: called in front of each statement. */
    begin(): void {
      rows = 0;
    },
    /** Rows of tables and of their indexes that the statement has looked at so far. */
    count: () => rows,
    /** Whether the statement was ended. */
    isOver: () => rows > most,
  };
}
