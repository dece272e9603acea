import pg from 'pg';
import { StartupError } from '../../errors.ts';
import { explain, nameOf } from './explain.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/** Bounds on what a request may wait for, in milliseconds. */
const REQUEST_TIMEOUTS =
  'set statement_timeout = 10000; set lock_timeout = 5000; set idle_in_transaction_session_timeout = 15000';

/** Of this side: a connection that has gone silent would otherwise keep its request, and its key, for hours. */
const SILENCE_TIMEOUT_MS = 12_000;

/** Of one process: reads have connections of their own, so that transactions that wait for locks do not make them wait. */
export const READ_CONNECTIONS = 6;
const TRANSACTION_CONNECTIONS = 10;

/**
 * Connects to a PostgreSQL database; its schema may be of any age.
 *
 * @param forRequests false for an operator's work, which takes as long as it takes
 * @throws StartupError when the server cannot be reached, refuses the user, or cannot be written to
 */
export async function openPool(url: string, { forRequests = false } = {}): Promise<pg.Pool> {
  const pool = forRequests ? createRequestPool(url, TRANSACTION_CONNECTIONS) : createPool(url, {});
  try {
    await checkServer(pool, url);
    return pool;
  } catch (error) {
    await pool.end();
    throw explain(error, url);
  }
}

/** Makes a pool for requests, whose waits have limits. */
export const createRequestPool = (url: string, max: number): pg.Pool =>
  createPool(url, { max, query_timeout: SILENCE_TIMEOUT_MS }, REQUEST_TIMEOUTS);

/**
 * Makes a pool that connects when it is first used.
 *
 * @param first what each connection runs first. A setting comes so, since poolers refuse a connection that begins with it
 */
export function createPool(url: string, config: pg.PoolConfig, first?: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: verifying(url),
    application_name: 'lkm',
    keepAlive: true,
    // A transaction sends several statements before the first is answered.
    pipeline: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(first !== undefined && { onConnect: (client) => client.query(first) }),
    ...config,
  });
  // A client that fails while it is idle is dropped by the pool; the next query opens another.
  pool.on('error', () => {});
  // One that fails while it is in use tells so through its query; without a listener it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/**
 * Has `prefer`, `require` and `verify-ca` verify the certificate with its name. `pg` does so by itself, with a warning of eight
 * lines.
 */
const verifying = (url: string): string =>
  /[?&]uselibpqcompat=true/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');

/** Rights come for all tables together, so that one of them, where it is there, shows what the user may do. */
const SERVER = `
  select current_setting('transaction_read_only') as read_only, current_setting('server_encoding') as encoding,
    pg_backend_pid() as pid,
    (select string_agg(privilege, ', ') from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) privilege
     where not has_table_privilege(to_regclass('licenses'), privilege)) as lacking
`;

/**
 * Makes sure that the server can be written to, that the user may work with the tables, and that a connection stays one.
 * Each change would else fail, and be repeated like one that may succeed later.
 */
async function checkServer(pool: pg.Pool, url: string): Promise<void> {
  const client = await pool.connect();
  const name = nameOf(url);
  try {
    const [found] = (await client.query(SERVER)).rows;
    if (found?.read_only === 'on') {
      throw new StartupError(`${name} is read-only: a standby, or set so`, 'give the address of the primary server');
    }
    if (found?.encoding !== 'UTF8') {
      throw new StartupError(
        `${name} keeps texts as ${found?.encoding}, which has not every character`,
        'make it with createdb --encoding UTF8 --template template0',
      );
    }
    if (found?.lacking) {
      throw new StartupError(
        `the user may not ${found.lacking} in the tables of ${name}`,
        'use the user that made them, or grant SELECT, INSERT, UPDATE and DELETE on all of them',
      );
    }
    // A pooler tells its clients numbers of its own.
    const isDirect = 'processID' in client && client.processID === found?.pid;
    if (!isDirect && (await isHandedOn(client, pool))) {
      // Prepared statements and settings would then be of somebody else.
      throw new StartupError(
        `${name} is behind a connection pooler that gives each transaction another connection`,
        'set pool_mode = session there, or give the address of PostgreSQL itself: a server of lkm has a pool of its own',
      );
    }
  } finally {
    client.release();
  }
}

const PID = 'select pg_backend_pid() as pid';

/** A pooler may give a connection back by chance. */
const LOOKS = 3;

/**
 * Whether a pooler gives the server's connection to another client after each transaction: while one has begun a
 * transaction, another that was there before has to have the same server process as ever, and none that it shares.
 */
async function isHandedOn(client: pg.PoolClient, pool: pg.Pool): Promise<boolean> {
  const other = await pool.connect();
  try {
    for (let look = 0; look < LOOKS; look += 1) {
      const before = await pidOf(client);
      await other.query('begin');
      const others = await pidOf(other);
      if (others === before || (await pidOf(client)) !== before) return true;
      await other.query('rollback');
    }
    return false;
  } catch {
    // Such as PgBouncer's refusal of `begin`, when it hands connections on after each statement.
    return true;
  } finally {
    other.release(true);
  }
}

const pidOf = async (client: pg.PoolClient): Promise<unknown> => (await client.query(PID)).rows[0]?.pid;
