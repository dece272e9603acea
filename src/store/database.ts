import type { Database, OpenForReading, OpenOptions } from './engine/driver.ts';
import { openSqliteFile, openForReading as openSqliteForReading } from './engine/sqlite/driver.ts';
import { type SchemaStatus, schemaStatus } from './migrate.ts';
import type { MasterKey } from './secret-box.ts';
import { openDataKey, type SecretsKept } from './secrets.ts';
import { isPostgres } from './store.ts';
import { accountRepository } from './tables/accounts.ts';
import { dataKeyRepository } from './tables/data-keys.ts';

/**
 * Opens a database without touching its schema.
 *
 * @param location the path of a SQLite file, or `postgres://…`
 * @param options for a SQLite file
 * @throws StartupError when it cannot be used
 */
export async function openDatabase(location: string, options?: OpenOptions): Promise<Database> {
  if (!isPostgres(location)) return openSqliteFile(location, options);
  // Imported on use: a command on a file needs no PostgreSQL driver.
  return (await import('./engine/postgres/driver.ts')).openPostgresDatabase(location);
}

/** How long a short-lived command waits for another command on the same file. */
export const LOCK_TIMEOUT_MS = 10_000;

/** Opens a database, runs `work`, and closes it. Rejects with explained errors of the database. */
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

export interface Inspection extends SchemaStatus, Pick<OpenForReading, 'engine' | 'owner' | 'warnings'> {
  /**
   * How the secrets of the database are kept, or would be from the first start on. Throws StartupError for a key that does
   * not fit.
   */
  secretsUnder(masterKey: MasterKey | null): 'plain' | 'sealed';
}

/**
 * Looks at a database and changes nothing: no file is made, no migration runs, no lock is kept. Null for a file that is
 * not there, or empty: a server makes its database in it.
 *
 * @throws StartupError when it cannot be read, is no database of lkm, or would refuse changes
 */
export async function inspect(location: string): Promise<Inspection | null> {
  const found = await openForReading(location);
  if (found === null) return null;
  const { engine, owner, warnings, check, explain, close } = found;
  try {
    await check();
    const schema = await schemaStatus(found);
    const kept = await secretsOf(found);
    const secretsUnder = (masterKey: MasterKey | null) => {
      const key = openDataKey(masterKey, kept);
      return key === null && (masterKey === null || kept.isUsed) ? 'plain' : 'sealed';
    };
    return { engine, owner, warnings, ...schema, secretsUnder };
  } catch (error) {
    throw explain(error);
  } finally {
    await close();
  }
}

async function openForReading(location: string): Promise<OpenForReading | null> {
  if (!isPostgres(location)) return openSqliteForReading(location);
  return (await import('./engine/postgres/driver.ts')).openForReading(location);
}

/** An older schema has no table for data keys; a new database has no tables at all. */
async function secretsOf({ connection, tables }: OpenForReading): Promise<SecretsKept> {
  const names = await tables();
  return {
    isUsed: names.has('accounts') && (await accountRepository(connection).oldest()) !== null,
    wrapped: names.has('data_keys') ? await dataKeyRepository(connection).find() : null,
  };
}
