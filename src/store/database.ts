import type { Kysely } from 'kysely';
import type { OpenOptions } from './engine/driver.ts';
import { openSqliteFile } from './engine/sqlite/driver.ts';
import { explainKnown } from './engine/sqlite/file.ts';
import type { Tables } from './schema.ts';
import { isPostgres } from './store.ts';

/** A database as an operator handles it, whatever its schema: inspected, migrated, copied. */
export interface Database {
  readonly engine: 'SQLite' | 'PostgreSQL';
  readonly kysely: Kysely<Tables>;
  /** What to tell a person of an error of this database: a StartupError where the cause is known, else the error. */
  explain(error: unknown): unknown;
  close(): Promise<void>;
}

/**
 * Opens a database without touching its schema.
 *
 * @param location the path of a SQLite file, or `postgres://…`
 * @param options for a SQLite file
 * @throws StartupError when it cannot be used
 */
export async function openDatabase(location: string, options?: OpenOptions): Promise<Database> {
  if (!isPostgres(location)) {
    const { path, kysely, close } = await openSqliteFile(location, options);
    return { engine: 'SQLite', kysely, explain: (error) => explainKnown(error, path), close: async () => close() };
  }
  // Loaded only where it is used: a command on a file needs no PostgreSQL driver.
  const { openPool } = await import('./engine/postgres/pool.ts');
  const { explain } = await import('./engine/postgres/explain.ts');
  const { pool, kysely } = await openPool(location);
  return { engine: 'PostgreSQL', kysely, explain: (error) => explain(error, location), close: () => pool.end() };
}

/** How long a short-lived command waits for another one on the same file, in milliseconds. */
export const LOCK_TIMEOUT_MS = 10_000;

/** Runs `work` on a database, and closes it. Rejects with what the database says of its errors. */
export async function withDatabase<T>(
  location: string,
  options: OpenOptions | undefined,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(location, options);
  try {
    return await work(database);
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}
