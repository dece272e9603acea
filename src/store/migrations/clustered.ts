import { type CreateTableBuilder, type Kysely, SqliteAdapter, sql } from 'kysely';

type Database = Pick<Kysely<never>, 'getExecutor'>;

/** Whether a migration runs on SQLite. */
export const isSqlite = (db: Database): boolean => db.getExecutor().adapter instanceof SqliteAdapter;

/**
 * Keeps the rows of a new table in the order of its primary key. Without it SQLite keeps rows by a number of their own and
 * the primary key beside them, so that each is written twice. PostgreSQL knows one way only.
 */
export const clustered =
  (db: Database) =>
  <T extends string, C extends string>(table: CreateTableBuilder<T, C>): CreateTableBuilder<T, C> =>
    isSqlite(db) ? table.modifyEnd(sql`without rowid`) : table;
