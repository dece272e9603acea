import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { alone } from './alone.ts';
import type { OpenOptions } from './engine/driver.ts';
import { StartupError } from './errors.ts';
import { migrations, replaced } from './migrations/index.ts';
import type { Tables } from './schema.ts';

/** How far the schema of a database has come. */
export interface SchemaStatus {
  readonly done: readonly string[];
  readonly pending: readonly string[];
  /** Migrations that this version does not know: a newer lkm has run them. */
  readonly unknown: readonly string[];
}

/** Compares the migrations that have run with those that exist. */
export async function schemaStatus(db: Kysely<Tables>): Promise<SchemaStatus> {
  const done = afterReplacing(await listExecuted(db));
  return {
    done: done.filter((name) => name in migrations),
    pending: Object.keys(migrations).filter((name) => !done.includes(name)),
    unknown: done.filter((name) => !(name in migrations)),
  };
}

/** The migrations that have run, as this version names them. */
function afterReplacing(done: readonly string[]): readonly string[] {
  const old = done.filter((name) => replaced.includes(name));
  if (old.length === 0) return done;
  if (old.length === replaced.length) return [...Object.keys(migrations).slice(0, 1), ...done.slice(old.length)];
  throw new StartupError(
    `the database was made by an unreleased lkm (its last migration is ${old.at(-1)})`,
    'serve it once with the lkm of commit de2f3e1, which brings it up to date; then go on with this one',
  );
}

/**
 * Makes sure that the schema of a database is that of this version. A new database gets it where `create` is not false,
 * an older one where `migrate` is true: commands migrate nothing, since servers may be running on the schema that there is.
 *
 * @param location how a person names the database
 * @throws StartupError when it is missing or older, or was changed by a newer lkm
 */
export async function ensureSchema(
  db: Kysely<Tables>,
  {
    location,
    migrate: mayMigrate = false,
    create = true,
  }: Pick<OpenOptions, 'migrate' | 'create'> & { location: string },
): Promise<'current' | 'to migrate'> {
  const { done, pending } = await knownStatus(db);
  if (pending.length === 0) return 'current';
  if (mayMigrate || (done.length === 0 && create)) return 'to migrate';
  const line = `lkm db migrate --db ${asArgument(location)}`;
  if (done.length === 0)
    throw new StartupError('there is nothing of lkm in the database', `make its tables with --create, or with ${line}`);
  throw new StartupError(
    `the database is of an older lkm (${pending.length} to migrate, from ${pending[0]})`,
    `a server of this version migrates it when it starts; without one: ${line}`,
  );
}

/** The status of a database that no newer lkm has changed; else throws StartupError. */
async function knownStatus(db: Kysely<Tables>): Promise<SchemaStatus> {
  const status = await schemaStatus(db);
  if (status.unknown.length === 0) return status;
  throw new StartupError(
    `the database was changed by a newer lkm (migration ${status.unknown[0]})`,
    'use that version or a later one',
  );
}

/** A location as it can be typed, without a password. */
function asArgument(location: string): string {
  if (/^postgres(ql)?:/.test(location) && URL.canParse(location)) {
    const { protocol, username, host, pathname } = new URL(location);
    return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
  }
  return /^[\w./-]+$/.test(location) ? location : `'${location.replaceAll("'", "'\\''")}'`;
}

/**
 * Brings the schema up to date, and returns the migrations that it ran. Replicas that start at once take turns.
 *
 * @throws StartupError when a newer lkm has already changed the database, or when it is in use on PostgreSQL
 */
export async function migrate(db: Kysely<Tables>): Promise<readonly string[]> {
  if ((await knownStatus(db)).pending.length === 0) return [];
  return alone(
    db,
    () => runPending(db),
    async () => ((await knownStatus(db)).pending.length === 0 ? [] : null),
  );
}

async function runPending(db: Kysely<Tables>): Promise<readonly string[]> {
  await renameReplaced(db);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return results.map((result) => result.migrationName);
}

/** The migrator compares names, so that what has run is written down under those of this version. */
async function renameReplaced(db: Kysely<Tables>): Promise<void> {
  const [first, ...others] = replaced;
  if (!(await listExecuted(db)).includes(first ?? '')) return;
  await db.transaction().execute(async (transaction) => {
    const [schema] = Object.keys(migrations);
    await sql`delete from kysely_migration where name in (${sql.join(others)})`.execute(transaction);
    await sql`update kysely_migration set name = ${schema} where name = ${first}`.execute(transaction);
  });
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
