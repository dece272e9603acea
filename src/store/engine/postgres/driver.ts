import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { StorageError } from '../../errors.ts';
import { ensureSchema, migrate } from '../../migrate.ts';
import type { Database, Driver, OpenForReading, OpenOptions } from '../driver.ts';
import { sql } from '../sql.ts';
import { connect, createPrepare, transact } from './connection.ts';
import { explain } from './explain.ts';
import { createRequestPool, openPool, READ_CONNECTIONS } from './pool.ts';
import { alone, showPresence } from './presence.ts';

const SETTLE_RETRY_MS = 100;

/**
 * Opens a PostgreSQL database, which any number of processes may share. An empty one gets its schema.
 *
 * @throws StartupError when the server cannot be reached, refuses the user, cannot be written to, or the schema is not that
 * of this version
 */
export async function openPostgres(url: string, options: OpenOptions = {}): Promise<Driver> {
  const writers = await openPool(url, { forRequests: true });
  const prepare = createPrepare();
  const leave = await enter(databaseOn(writers, url, prepare), url, options).catch(async (error: unknown) => {
    await writers.end();
    throw explain(error, url);
  });
  const readers = createRequestPool(url, READ_CONNECTIONS);
  const underWay = new Set<Promise<unknown>>();
  let closing = false;
  return {
    warnings: [],
    reader: connect(readers, prepare),
    isOnlyWriter: false,
    async transaction(work) {
      if (closing) throw new StorageError(new Error('the database was closed'));
      const running = transact(writers, prepare, work);
      underWay.add(running);
      return running.finally(() => underWay.delete(running));
    },
    settled: () => untilItAnswers(readers),
    check: async () => {}, // each query shows it
    explain: (error) => explain(error, url),
    publishUrl: () => {},
    close: async () => {
      closing = true;
      // A pool that ends while somebody waits for a connection lets them wait until their timeout.
      await Promise.allSettled(underWay);
      await Promise.all([writers.end(), readers.end(), leave()]);
    },
  };
}

/** Makes sure that the schema is there and stays as it is until this process leaves. */
async function enter(database: Database, url: string, options: OpenOptions): Promise<() => Promise<void>> {
  const leave = await showPresence(url);
  try {
    if ((await ensureSchema(database, { ...options, location: url })) === 'current') return leave;
  } catch (error) {
    await leave();
    throw error;
  }
  await leave();
  // It takes as long as it takes, and so does waiting for another server that does it.
  const unlimited = await openPostgresDatabase(url);
  await migrate(unlimited).finally(unlimited.close);
  return showPresence(url);
}

/**
 * Waits for the database. A transaction whose commit went unanswered holds its locks until it is over, so that from
 * then on its claim is either seen as done or refused as in progress.
 */
async function untilItAnswers(pool: Pool): Promise<void> {
  for (;;) {
    try {
      await pool.query('select 1');
      return;
    } catch {
      await sleep(SETTLE_RETRY_MS, undefined, { ref: false });
    }
  }
}

/** Opens a PostgreSQL database for an operator, whose work takes as long as it takes. Throws StartupError as above. */
export const openPostgresDatabase = async (url: string): Promise<Database> => databaseOn(await openPool(url), url);

export const openForReading = async (url: string): Promise<OpenForReading> => ({
  ...databaseOn(await openPool(url, { forRequests: true }), url),
  owner: null,
  warnings: [],
});

function databaseOn(pool: Pool, url: string, prepare = createPrepare()): Database {
  const connection = connect(pool, prepare);
  return {
    engine: 'PostgreSQL',
    connection,
    async tables() {
      const names = sql`select tablename as name from pg_tables where schemaname = any (current_schemas(false))`;
      return new Set(await connection.all(names, (row: { name: string }) => row.name));
    },
    transaction: (work) => transact(pool, prepare, work),
    alone: (work, findDone) => alone(pool, work, findDone),
    explain: (error) => explain(error, url),
    close: () => pool.end(),
  };
}
