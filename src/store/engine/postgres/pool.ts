import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Tables } from '../../schema.ts';
import { StartupError } from '../../startup-error.ts';
import { behindPooler, explain, nameOf } from './explain.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/** Bounds on what a request may wait for, in milliseconds. */
export const REQUEST_TIMEOUTS = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 15_000,
  /** Of this side: a connection that has gone silent would otherwise keep its request, and its key, for hours. */
  query_timeout: 12_000,
};

/** Connections of one process: reads have their own, so that transactions that wait for locks do not make them wait. */
export const READ_CONNECTIONS = 6;
const TRANSACTION_CONNECTIONS = 10;

/**
 * Connects to a PostgreSQL database; its schema may be of any age.
 *
 * @param timeouts none for an operator's work, which takes as long as it takes
 * @throws StartupError when the server cannot be reached, refuses the user, or cannot be written to
 */
export async function openPool(
  url: string,
  timeouts: Partial<typeof REQUEST_TIMEOUTS>,
): Promise<{ pool: pg.Pool; kysely: Kysely<Tables> }> {
  const pool = createPool(url, timeouts, TRANSACTION_CONNECTIONS);
  try {
    await checkServer(pool, url, timeouts);
    return { pool, kysely: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }) };
  } catch (error) {
    await pool.end();
    throw explain(error, url);
  }
}

/** Makes a pool that connects when it is first used. */
export function createPool(
  url: string,
  timeouts: Partial<typeof REQUEST_TIMEOUTS> & Pick<pg.PoolConfig, 'connectionTimeoutMillis'>,
  max: number,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: verifying(url),
    application_name: 'lkm',
    keepAlive: true,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...timeouts,
  });
  // A client that fails while it is idle is dropped by the pool; the next query opens another.
  pool.on('error', () => {});
  // One that fails while it is in use tells so through its query; without a listener it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/**
 * Whoever asks for an encrypted connection gets one to the server that was named: `require`, too, verifies the certificate.
 * `pg` does so by itself, with a warning of eight lines.
 */
const verifying = (url: string): string =>
  /[?&]uselibpqcompat=true/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');

/** Makes sure that the server can be written to, and that it is PostgreSQL itself. */
async function checkServer(pool: pg.Pool, url: string, timeouts: Partial<typeof REQUEST_TIMEOUTS>): Promise<void> {
  const { rows } = await pool.query(
    "select current_setting('transaction_read_only') as read_only, " +
      "(select setting from pg_settings where name = 'statement_timeout') as statement_timeout, " +
      "current_setting('server_encoding') as encoding",
  );
  const [found] = rows;
  if (found?.read_only === 'on') {
    throw new StartupError(
      `${nameOf(url)} is read-only: a standby, or set so`,
      'give the address of the primary server',
    );
  }
  if (found?.encoding !== 'UTF8') {
    throw new StartupError(
      `${nameOf(url)} keeps texts as ${found?.encoding}, which has not every character`,
      'make it with createdb --encoding UTF8 --template template0',
    );
  }
  const { statement_timeout: asked } = timeouts;
  if (asked !== undefined && found?.statement_timeout !== String(asked)) throw behindPooler(url);
}
