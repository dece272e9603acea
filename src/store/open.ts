import { LocalError } from './local-error.ts';
import { openSqlite } from './sqlite/driver.ts';
import { createStore, type Store } from './store.ts';

/** An opened store, and how others are told where it is served. */
export interface OpenStore extends Store {
  announce(url: string): void;
}

/**
 * Opens the database that `location` names, and brings its schema up to date.
 *
 * @param location the path of a SQLite file
 * @param waitMs how long to wait for another short-lived process that holds it
 * @throws LocalError when it cannot be used
 */
export async function openStore(location: string, waitMs: number): Promise<OpenStore> {
  if (/^postgres(ql)?:/.test(location)) {
    throw new LocalError(
      'this version of lkm keeps its data in a SQLite file only',
      'give the path of a file: --db lkm.db',
    );
  }
  const driver = await openSqlite(location, waitMs);
  return { ...createStore(driver), announce: driver.announce };
}
