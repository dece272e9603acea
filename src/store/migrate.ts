import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { migrations } from './migrations/index.ts';
import type { Tables } from './schema.ts';
import { StartupError } from './startup-error.ts';

/** How far the schema of a database has come. */
export interface SchemaStatus {
  readonly done: readonly string[];
  readonly pending: readonly string[];
  /** Migrations that this version does not know: a newer lkm has run them. */
  readonly unknown: readonly string[];
}

/** Compares the migrations that have run with those that exist. */
export async function schemaStatus(db: Kysely<Tables>): Promise<SchemaStatus> {
  const done = await listExecuted(db);
  return {
    done: done.filter((name) => name in migrations),
    pending: Object.keys(migrations).filter((name) => !done.includes(name)),
    unknown: done.filter((name) => !(name in migrations)),
  };
}

/** Whether migrations are pending. Throws StartupError when a newer lkm has already changed the database. */
export async function needsMigration(db: Kysely<Tables>): Promise<boolean> {
  return (await pendingOf(db)).length > 0;
}

async function pendingOf(db: Kysely<Tables>): Promise<readonly string[]> {
  const { pending, unknown } = await schemaStatus(db);
  if (unknown.length === 0) return pending;
  throw new StartupError(
    `the database was changed by a newer lkm (migration ${unknown[0]})`,
    'use that version or a later one',
  );
}

/**
 * Brings the schema up to date, and returns the migrations that it ran. Replicas that start at once take turns.
 *
 * @throws StartupError when a newer lkm has already changed the database.
 */
export async function migrate(db: Kysely<Tables>): Promise<readonly string[]> {
  const pending = await pendingOf(db);
  if (pending.length === 0) return [];

  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
  for (const name of pending) await migrations[name]?.before?.(db);
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  for (const name of pending) await migrations[name]?.after?.(db);
  return results.map((result) => result.migrationName);
}

/** The names of the migrations that have run, in order; none on a new database. */
async function listExecuted(db: Kysely<Tables>): Promise<string[]> {
  try {
    return await readExecuted(db);
  } catch {
    // Looked up only now: to list all tables takes longer than a command may. Another server may have made it meanwhile.
    const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
    return tables.some((table) => table.name === 'kysely_migration') ? readExecuted(db) : [];
  }
}

async function readExecuted(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map((row) => row.name);
}
