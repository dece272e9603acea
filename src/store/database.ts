import type { Kysely } from 'kysely';
import type { Connection, OpenOptions } from './engine/driver.ts';
import { openSqliteFile } from './engine/sqlite/driver.ts';
import { explainKnown } from './engine/sqlite/file.ts';
import { openForReading as openSqliteForReading } from './engine/sqlite/reading.ts';
import { type SchemaStatus, schemaStatus } from './migrate.ts';
import type { Tables } from './schema.ts';
import type { MasterKey } from './secret-box.ts';
import { openDataKey, type SecretsKept } from './secrets.ts';
import { isPostgres } from './store.ts';
import { accountRepository } from './tables/accounts.ts';
import { dataKeyRepository } from './tables/data-keys.ts';

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

/** A database that is looked at, whatever its schema, and whoever has it open. */
export interface OpenForReading extends Database {
  readonly connection: Connection;
  /** The process that has the database for itself; null where none has, or any number may. */
  readonly owner: { readonly pid?: number; readonly url?: string } | null;
  /** What an operator should know about it, one sentence each. */
  readonly warnings: readonly string[];
}

/** What stands in a database. */
export interface Inspection extends SchemaStatus, Pick<OpenForReading, 'engine' | 'owner' | 'warnings'> {
  /** Whether there is an account in it. */
  readonly isUsed: boolean;
  /** How its secrets are kept, or would be from the first start on. Throws StartupError for a key that does not fit. */
  secretsUnder(masterKey: MasterKey | null): 'plain' | 'sealed';
}

/**
 * Looks at a database and changes nothing: no file is made, no migration runs, no lock is kept. Null for a file that is
 * not there, or empty: a server makes its database in it.
 *
 * @throws StartupError when it cannot be read, or is no database of lkm
 */
export async function inspect(location: string): Promise<Inspection | null> {
  const found = await openForReading(location);
  if (found === null) return null;
  const { engine, kysely, connection, owner, warnings, explain, close } = found;
  try {
    const schema = await schemaStatus(kysely);
    const kept = await secretsOf(kysely, connection);
    const secretsUnder = (masterKey: MasterKey | null) => {
      const key = openDataKey(masterKey, kept);
      return key === null && (masterKey === null || kept.isUsed) ? 'plain' : 'sealed';
    };
    return { engine, owner, warnings, ...schema, isUsed: kept.isUsed, secretsUnder };
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

/** An older schema has no table for data keys; a new database has none at all. */
async function secretsOf(kysely: Kysely<Tables>, connection: Connection): Promise<SecretsKept> {
  const tables = new Set((await kysely.introspection.getTables()).map(({ name }) => name));
  return {
    isUsed: tables.has('accounts') && (await accountRepository(connection).oldest()) !== null,
    wrapped: tables.has('data_keys') ? await dataKeyRepository(connection).find() : null,
  };
}
