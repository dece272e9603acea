import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { migrate } from '../../migrate.ts';
import type { Driver } from '../driver.ts';
import { connect, createPreparer } from './connection.ts';
import { explain } from './open-errors.ts';
import { openPool, REQUEST_TIMEOUTS } from './pool.ts';
import { createTransactions } from './transaction.ts';

const SETTLE_RETRY_MS = 100;

/**
 * Opens a PostgreSQL database, which any number of processes may share, and brings its schema up to date.
 *
 * @throws StartupError when the server cannot be reached, refuses the user, cannot be written to, or belongs to a newer lkm
 */
export async function openPostgres(url: string): Promise<Driver> {
  const { pool, kysely } = await openPool(url, REQUEST_TIMEOUTS);
  try {
    await migrate(kysely);
  } catch (error) {
    await pool.end();
    throw explain(error, url);
  }
  const prepare = createPreparer(kysely);
  return {
    reader: connect(pool, prepare),
    transaction: createTransactions(pool, prepare),
    settled: () => untilItAnswers(pool),
    check: async () => {}, // each query shows it
    announce: () => {},
    close: () => pool.end(),
  };
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
