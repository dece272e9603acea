import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, PostgresAdapter, sql } from 'kysely';
import { StartupError } from './errors.ts';
import type { Tables } from './schema.ts';

/**
 * The advisory lock of a PostgreSQL database that everything of lkm shares which works on its tables, for as long as it
 * does. Whoever changes what the others rely on, the schema or the data key, takes it alone. Two numbers of our own.
 */
const IN_USE = sql.lit(1_818_979_700);
const NUMBERS = sql`${IN_USE}, 1`;

/** Shares the lock; waits while somebody has it alone. For the connection that runs it, until that ends. */
export const SHARE = 'select pg_advisory_lock_shared(1818979700, 1)';

/** How long servers that were just stopped, and those that are only starting, may still have the lock. */
const IN_USE_TIMEOUT_MS = 2_000;
const PAUSE_MS = 100;

/** Whether the database is one that several processes may use at one time. */
export const isShared = (db: Kysely<Tables>): boolean => db.getExecutor().adapter instanceof PostgresAdapter;

/**
 * Runs `work` while nobody else works on a PostgreSQL database. Waits for others that do the same as long as they take.
 *
 * @param findDone asked while it waits: the result, once somebody else has done the work; else null
 * @throws StartupError when servers or commands use it, and go on for seconds
 */
export async function alone<T>(
  db: Kysely<Tables>,
  work: () => Promise<T>,
  findDone: () => Promise<T | null> = async () => null,
): Promise<T> {
  // A file belongs to one process anyway.
  if (!isShared(db)) return work();
  return db.connection().execute(async (connection) => {
    const done = await takeAlone(connection, findDone);
    if (done !== null) return done;
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(${NUMBERS})`.execute(connection);
    }
  });
}

async function takeAlone<T>(connection: Kysely<Tables>, findDone: () => Promise<T | null>): Promise<T | null> {
  for (let waited = 0; ; waited += PAUSE_MS) {
    const taken = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${NUMBERS}) as taken`.execute(connection);
    if (taken.rows[0]?.taken === true) return null;
    const done = await findDone();
    if (done !== null) return done;
    const { rows } = await sql<{ users: number }>`
      select count(*) filter (where mode = 'ShareLock')::int as users from pg_locks
      where locktype = 'advisory' and granted and classid = ${IN_USE} and objid = 1 and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())
    `.execute(connection);
    const users = rows[0]?.users ?? 0;
    if (users > 0 && waited >= IN_USE_TIMEOUT_MS) {
      throw new StartupError(
        `the database is in use by ${users === 1 ? 'a server or command' : `${users} servers or commands`} of lkm`,
        'stop every server on it, then try again',
      );
    }
    await sleep(PAUSE_MS);
  }
}
