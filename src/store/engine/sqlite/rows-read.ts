import type { DatabaseSync } from 'node:sqlite';
import { ReadTooBroad } from '../storage-error.ts';

/** Rows that one statement may read: seconds of the one thread that serves everybody, and a few million keys counted. */
const MAX_ROWS_READ = 5_000_000;

/** How much the statements of a connection read. */
export interface RowsRead {
  /** Begins to count anew: called in front of each statement. */
  begin(): void;
  /** Rows of tables and of their indexes that the statement has looked at so far. */
  count(): number;
}

/**
 * Counts each row that statements of this connection read, and ends one that reads more than `most` with ReadTooBroad.
 * SQLite cannot be interrupted from the thread that it runs in, so a view stands before each table, with a function
 * among its conditions: no statement can go round it, and the planner sees through it.
 */
export function countRowsRead(database: DatabaseSync, most = MAX_ROWS_READ): RowsRead {
  let rows = 0;
  database.function('lkm_count_row', (_column) => {
    rows += 1;
    if (rows > most) throw new ReadTooBroad(new Error(`a statement has read more than ${most} rows`));
    return 1;
  });
  const tables = database.prepare(LAST_KEY_COLUMNS).all();
  for (const { name, key } of tables) {
    // The column binds the call to the rows of this table: in a join it would else run in the outermost loop alone.
    database.exec(`create temp view "${name}" as select * from main."${name}" where lkm_count_row("${key}" is '')`);
  }
  return {
    begin: () => {
      rows = 0;
    },
    count: () => rows,
  };
}

const LAST_KEY_COLUMNS = `
  select t.name, c.name as key, max(c.pk) from main.sqlite_master as t, pragma_table_info(t.name) as c
  where t.type = 'table' and t.name not like 'sqlite_%' and t.name not like 'kysely_%' and c.pk > 0
  group by t.name`;
