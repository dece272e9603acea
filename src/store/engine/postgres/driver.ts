import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Pool } from 'pg';
import { SHARE } from '../../alone.ts';
import type { OpenForReading } from '../../database.ts';
import { StorageError } from '../../errors.ts';
import { ensureSchema, migrate } from '../../migrate.ts';
import type { Tables } from '../../schema.ts';
import type { Driver, OpenOptions } from '../driver.ts';
import { connect, createPreparer, transact } from './connection.ts';
import { explain } from './explain.ts';
import { createPool, createRequestPool, openPool, READ_CONNECTIONS, REQUEST_TIMEOUTS } from './pool.ts';

const SETTLE_RETRY_MS = 100;

/**
 * Opens a PostgreSQL database, which any number of processes may share. An empty one gets its schema.
 *
 * @throws StartupError when the server cannot be reached, refuses the user, cannot be written to, or the schema is not that
 * of this version
 */
export async function openPostgres(url: string, options: OpenOptions = {}): Promise<Driver> {
  const { pool: writers, kysely } = await openPool(url, REQUEST_TIMEOUTS);
  const leave = await enter(kysely, url, options).catch(async (error: unknown) => {
    await writers.end();
    throw explain(error, url);
  });
  const readers = createRequestPool(url, READ_CONNECTIONS);
  const prepare = createPreparer(kysely);
  const underWay = new Set<Promise<unknown>>();
  let closing = false;
  return {
    warnings: [],
    reader: connect(readers, prepare),
    isOnlyWriter: false,
    transaction: (work) => {
      if (closing) return Promise.reject(new StorageError(new Error('the database was closed')));
      const running = transact(writers, prepare, work);
      underWay.add(running);
      const forget = () => underWay.delete(running);
      running.then(forget, forget);
      return running;
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
async function enter(kysely: Kysely<Tables>, url: string, options: OpenOptions): Promise<() => Promise<void>> {
  const leave = await showPresence(url);
  try {
    if ((await ensureSchema(kysely, { ...options, location: url })) === 'current') return leave;
  } catch (error) {
    await leave();
    throw error;
  }
  await leave();
  // It takes as long as it takes, and so does waiting for another server that does it.
  const unlimited = await openPool(url);
  await migrate(unlimited.kysely).finally(() => unlimited.pool.end());
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

const LOOK_EVERY_MS = 1_000;

/**
 * Keeps everybody from migrating a database while this process works on it, on a connection of its own that is renewed
 * when it is lost. Waits while somebody migrates it now.
 *
 * @returns what ends it
 */
export async function showPresence(url: string): Promise<() => Promise<void>> {
  const pool = createPool(url, { max: 1, idleTimeoutMillis: 0, connectionTimeoutMillis: 0 }, SHARE);
  const connect = async () => (await pool.connect()).release();
  await connect();
  const renew = () => void (pool.totalCount === 0 && connect().catch(() => {}));
  const timer = setInterval(renew, LOOK_EVERY_MS).unref();
  return async () => {
    clearInterval(timer);
    await pool.end();
  };
}

/**
 * Opens a PostgreSQL database to look at it.
 *
 * @throws StartupError when the server cannot be reached, refuses the user or its work, or cannot be written to
 */
export async function openForReading(url: string): Promise<OpenForReading> {
  const { pool, kysely } = await openPool(url, REQUEST_TIMEOUTS);
  return {
    engine: 'PostgreSQL',
    kysely,
    connection: connect(pool, createPreparer(kysely)),
    owner: null,
    warnings: [],
    explain: (error) => explain(error, url),
    close: () => pool.end(),
  };
}
