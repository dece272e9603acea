import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Pool } from 'pg';
import { migrate, needsMigration } from '../../migrate.ts';
import type { Tables } from '../../schema.ts';
import type { Connection, Driver } from '../driver.ts';
import { StorageError } from '../storage-error.ts';
import { connect, createPreparer } from './connection.ts';
import { explain } from './explain.ts';
import { createPool, openPool, READ_CONNECTIONS, REQUEST_TIMEOUTS } from './pool.ts';
import { checkRights } from './rights.ts';
import type { StandbyOptions, StandbyReads } from './standby-reads.ts';
import { createTransactions } from './transaction.ts';

const SETTLE_RETRY_MS = 100;

/**
 * Opens a PostgreSQL database, which any number of processes may share, and brings its schema up to date.
 *
 * @param standbys hot standbys of it that reads may go to
 * @throws StartupError when the server cannot be reached, refuses the user, cannot be written to, or belongs to a newer lkm
 */
export async function openPostgres(url: string, standbys: readonly string[] = []): Promise<Driver> {
  const { pool: writers, kysely } = await openPool(url, REQUEST_TIMEOUTS);
  try {
    await checkRights(writers, url);
    await bringUpToDate(kysely, url);
  } catch (error) {
    await writers.end();
    throw explain(error, url);
  }
  const readers = createPool(url, REQUEST_TIMEOUTS, READ_CONNECTIONS);
  const prepare = createPreparer(kysely);
  const primary = connect(readers, prepare);
  const reads = await readsFrom(primary, { url, standbys, prepare }).catch(async (error: unknown) => {
    await Promise.all([writers.end(), readers.end()]);
    throw explain(error, url);
  });
  const transactions = createTransactions(writers, prepare);
  const underWay = new Set<Promise<unknown>>();
  let closing = false;
  return {
    warnings: [],
    ...reads,
    primary,
    isOnlyWriter: false,
    transaction: (work) => {
      if (closing) return Promise.reject(new StorageError(new Error('the database was closed')));
      const running = transactions(work);
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
      await reads.close();
      await Promise.all([writers.end(), readers.end()]);
    },
  };
}

/** Runs the migrations that are pending. They take as long as they take, and so does waiting for another server that runs them. */
async function bringUpToDate(kysely: Kysely<Tables>, url: string): Promise<void> {
  if (!(await needsMigration(kysely))) return;
  const unlimited = await openPool(url, {});
  await migrate(unlimited.kysely).finally(() => unlimited.pool.end());
}

/** Reads, with or without standbys. */
type Reads = Omit<StandbyReads, 'standbys'> & Partial<StandbyReads>;

// Loaded only where it is used: most databases have no standby.
async function readsFrom(primary: Connection, options: StandbyOptions): Promise<Reads> {
  if (options.standbys.length === 0) return { reader: primary, close: async () => {} };
  const { openStandbyReads } = await import('./standby-reads.ts');
  return openStandbyReads(primary, options);
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
