import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { LocalError } from './local-error.ts';
import { migrations } from './migrations/index.ts';
import type { Tables } from './tables.ts';

/**
 * Brings the schema up to date.
 *
 * @throws LocalError when a newer lkm has already changed the database.
 */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const done = await listExecuted(db);
  const unknown = done.find((name) => !(name in migrations));
  if (unknown !== undefined) {
    throw new LocalError(
      `the database was changed by a newer lkm (migration ${unknown})`,
      'use that version or a later one',
    );
  }
  if (done.length === Object.keys(migrations).length) return;

  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** The names of the migrations that have run, in order; none on a new database. */
async function listExecuted(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === 'kysely_migration')) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map((row) => row.name);
}
