import { isPostgres } from './engine/database.ts';
import type { OpenOptions } from './engine/driver.ts';
import { openSqlite } from './engine/sqlite/driver.ts';
import { createStore, type Store } from './store.ts';

/**
 * Opens the database that `location` names, and brings its schema up to date.
 *
 * @param location the path of a SQLite file, or `postgres://…`
 * @param options for a SQLite file
 * @throws StartupError when it cannot be used
 */
export async function openStore(location: string, options?: OpenOptions): Promise<Store> {
  if (!isPostgres(location)) return createStore(await openSqlite(location, options));
  // Loaded only where it is used: a command on a file needs no PostgreSQL driver.
  const { openPostgres } = await import('./engine/postgres/driver.ts');
  return createStore(await openPostgres(location));
}
