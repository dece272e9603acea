import { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../../src/store/database.ts';
import type { Connection } from '../../src/store/engine/driver.ts';
import { type Sql, sql } from '../../src/store/engine/sql.ts';
import { connect } from '../../src/store/engine/sqlite/connection.ts';

/** Tells how many rows of tables and indexes a database has looked at. */
export interface Meter {
  /** The most rows that one statement of `work` reads; one that reads more than `MAX_METERED` is ended there. */
  rowsOf(work: (connection: Connection) => Promise<unknown>): Promise<number>;
  close(): Promise<void>;
}

/** Enough to see that something is wrong: a statement that compares all rows with all would take minutes. */
const MAX_METERED = 300_000;

/** Opens a meter on a database that is open already. */
export async function openMeter(location: string): Promise<Meter> {
  return location.startsWith('postgres') ? openPostgresMeter(location) : openSqliteMeter(location);
}

function openSqliteMeter(location: string): Meter {
  const database = new DatabaseSync(location, { readOnly: true });
  const rowsRead = countRowsRead(database, MAX_METERED);
  let most = 0;
  const note = () => {
    most = Math.max(most, rowsRead.count());
  };
  const connection = connect(database, {
    before() {
      note();
      rowsRead.begin();
    },
  });
  return {
    async rowsOf(work) {
      rowsRead.begin();
      most = 0;
      await work(connection).catch((error: unknown) => {
        if (!rowsRead.isOver()) throw error;
      });
      note();
      return most;
    },
    close: async () => database.close(),
  };
}

/**
 * Counts the rows that statements of a connection read, and ends one that reads more than `most`: a view stands before each
 * table, with a function among its conditions that is called for each row. No statement can go round it, and the planner sees
 * through it.
 */
function countRowsRead(database: DatabaseSync, most: number) {
  let rows = 0;
  database.function('lkm_count_rows', (_column) => {
    rows += 1;
    if (rows > most) throw new Error(`a statement has read more than ${most} rows`);
    return 1;
  });
  // Each table, with the last column of its key.
  const tables = database.prepare(`
    select t.name, c.name as key, max(c.pk)
    from pragma_table_list as t, pragma_table_info(t.name) as c
    where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite_%' and c.pk > 0
    group by t.name`);
  for (const { name, key } of tables.all()) {
    // The column binds the call to the rows of this table: in a join it would else run in the outermost loop alone.
    const condition = `lkm_count_rows("${key}" is '')`;
    database.exec(`create temp view "${name}" as select * from main."${name}" where ${condition}`);
  }
  return {
    /** Begins to count anew: called in front of each statement. */
    begin(): void {
      rows = 0;
    },
    count: () => rows,
    isOver: () => rows > most,
  };
}

/** Has each statement explained while it runs: rows that each step of its plan read, left out ones and repetitions too. */
async function openPostgresMeter(location: string): Promise<Meter> {
  const { connection: explaining, close } = await openDatabase(location);
  let most = 0;
  async function all(statement: Sql): Promise<never[]> {
    const rows = await explaining.all<{ 'QUERY PLAN': [{ Plan: Step }] }>(
      sql`explain (analyze, timing off, format json) ${statement}`,
    );
    most = Math.max(most, ...rows.map((row) => rowsOfStep(row['QUERY PLAN'][0].Plan)));
    return [];
  }
  const connection: Pick<Connection, 'all' | 'first'> = {
    all,
    first: async (statement) => (await all(statement))[0] ?? null,
  };
  return {
    async rowsOf(work) {
      most = 0;
      await work(connection as Connection);
      return most;
    },
    close,
  };
}

/** A step of a plan, as PostgreSQL explains it. */
interface Step {
  /** Absent from steps that do not read a table. */
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly Step[];
}

function rowsOfStep(step: Step): number {
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Join Filter': unjoined = 0 } = step;
  const found = step['Relation Name'] === undefined ? 0 : step['Actual Rows'];
  const own = step['Actual Loops'] * (found + filtered + unjoined);
  return (step.Plans ?? []).reduce((sum, child) => sum + rowsOfStep(child), own);
}
