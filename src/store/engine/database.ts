import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';
import type { OpenOptions } from './driver.ts';
import { openSqliteFile } from './sqlite/driver.ts';

/** A database as an operator handles it, whatever its schema: inspected, migrated, copied. */
export interface Database {
  readonly engine: 'SQLite' | 'PostgreSQL';
  readonly kysely: Kysely<Tables>;
  close(): Promise<void>;
}

/** Whether the location is that of a PostgreSQL database, and not the path of a file. */
export const isPostgres = (location: string): boolean => /^postgres(ql)?:\/\//.test(location);

/**
 * Opens a database without touching its schema.
 *
 * @param location the path of a SQLite file, or `postgres://…`
 * @param options for a SQLite file
 * @throws StartupError when it cannot be used
 */
export async function openDatabase(location: string, options?: OpenOptions): Promise<Database> {
  if (!isPostgres(location)) {
    const { kysely, close } = await openSqliteFile(location, options);
    return { engine: 'SQLite', kysely, close: async () => close() };
  }
  // Loaded only where it is used: a command on a file needs no PostgreSQL driver.
  const { openPool } = await import('./postgres/pool.ts');
  const { pool, kysely } = await openPool(location, {});
  return { engine: 'PostgreSQL', kysely, close: () => pool.end() };
}
