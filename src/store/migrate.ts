import type { Database, OpenOptions } from './engine/driver.ts';
import { raw, sql } from './engine/sql.ts';
import { StartupError } from './errors.ts';
import { dialects } from './migrations/dialect.ts';
import { migrations } from './migrations/index.ts';

export interface SchemaStatus {
  readonly done: readonly string[];
  readonly pending: readonly string[];
  /** Migrations that this version does not know: a newer lkm has run them. */
  readonly unknown: readonly string[];
}

type Migratable = Pick<Database, 'engine' | 'connection' | 'tables'>;

export async function schemaStatus(database: Migratable): Promise<SchemaStatus> {
  const done = await listExecuted(database);
  return {
    done: done.filter((name) => name in migrations),
    pending: Object.keys(migrations).filter((name) => !done.includes(name)),
    unknown: done.filter((name) => !(name in migrations)),
  };
}

/**
 * Makes sure that a database has the schema of this version. A new database gets it where `create` is not false, an older
 * database where `migrate` is true: commands migrate nothing, since servers may be running on the present schema.
 *
 * @param location how a person names the database
 * @throws StartupError when it is missing or older, or was changed by a newer lkm
 */
export async function ensureSchema(
  database: Migratable,
  {
    location,
    migrate: mayMigrate = false,
    create = true,
  }: Pick<OpenOptions, 'migrate' | 'create'> & { location: string },
): Promise<'current' | 'to migrate'> {
  const { done, pending } = await knownStatus(database);
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
async function knownStatus(database: Migratable): Promise<SchemaStatus> {
  const status = await schemaStatus(database);
  if (status.unknown.length === 0) return status;
  throw new StartupError(
    `the database was changed by a newer lkm (migration ${status.unknown[0]})`,
    'use that version or a later one',
  );
}

/** A location without its password, as it can be typed. */
function asArgument(location: string): string {
  const [, scheme, user = '', rest] = /^(postgres(?:ql)?:\/\/)(?:([^/?#:@]*)[^/?#]*@)?([^?#]*)/.exec(location) ?? [];
  if (scheme !== undefined) return `${scheme}${user === '' ? '' : `${user}@`}${rest}`;
  return /^[\w./-]+$/.test(location) ? location : `'${location.replaceAll("'", "'\\''")}'`;
}

/**
 * Brings the schema up to date, and returns the migrations that it ran. Replicas that start at once take turns.
 *
 * @throws StartupError when a newer lkm has already changed the database, or when it is in use on PostgreSQL
 */
export async function migrate(database: Database): Promise<readonly string[]> {
  if ((await knownStatus(database)).pending.length === 0) return [];
  return database.alone(
    () => runPending(database),
    async () => ((await knownStatus(database)).pending.length === 0 ? [] : null),
  );
}

/** Runs all pending migrations in one transaction. */
async function runPending(database: Database): Promise<readonly string[]> {
  const { engine } = database;
  const isNew = !(await database.tables()).has(MIGRATIONS_TABLE);
  const { pending } = await schemaStatus(database);
  await database.transaction(async (db) => {
    if (isNew) await db.run(raw(`create table ${MIGRATIONS_TABLE} (name text primary key)`));
    for (const name of pending) {
      for (const statement of migrations[name]?.(dialects[engine]) ?? []) await db.run(raw(statement));
      await db.run(sql`insert into ${raw(MIGRATIONS_TABLE)} (name) values (${name})`);
    }
  });
  return pending;
}

/** The table that marks a database of lkm and lists its migrations. */
export const MIGRATIONS_TABLE = 'lkm_migrations';

/** The names of the migrations that have run, in order; empty for a new database. */
async function listExecuted({ connection, tables }: Migratable): Promise<string[]> {
  if (!(await tables()).has(MIGRATIONS_TABLE)) return [];
  const executed = sql`select name from ${raw(MIGRATIONS_TABLE)} order by name`;
  return connection.all(executed, (row: { name: string }) => row.name);
}
