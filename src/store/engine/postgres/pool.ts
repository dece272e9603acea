import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Tables } from '../../schema.ts';
import { StartupError } from '../../startup-error.ts';
import { codeOf } from './connection.ts';

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
      "(select setting from pg_settings where name = 'statement_timeout') as statement_timeout",
  );
  const [found] = rows;
  if (found?.read_only === 'on') {
    throw new StartupError(
      `${nameOf(url)} is read-only: a standby, or set so`,
      'give the address of the primary server',
    );
  }
  const { statement_timeout: asked } = timeouts;
  if (asked !== undefined && found?.statement_timeout !== String(asked)) throw isPooled(url);
}

/** A pooler hands a connection on after each transaction: prepared statements and settings are then of somebody else. */
const isPooled = (url: string, options?: ErrorOptions): StartupError =>
  new StartupError(
    `${nameOf(url)} is behind a connection pooler, which does not keep what is set for a connection`,
    'give the address of PostgreSQL itself: a server of lkm has a pool of its own',
    options,
  );

/** Says in one line what keeps PostgreSQL from being used; the password is in none of them. */
export function explain(error: unknown, url: string): unknown {
  if (error instanceof StartupError) return error;
  const code = codeOf(error);
  const options = { cause: error };
  if (code === '28P01' || code === '28000') {
    return new StartupError(`${nameOf(url)} refused the user or the password`, 'check both in the address', options);
  }
  if (code === UNSUPPORTED_PARAMETER) return isPooled(url, options);
  if (code === '3D000') return new StartupError(`${nameOf(url)} does not exist`, 'make it with createdb', options);
  if (code === '42501') {
    return new StartupError(`the user may not make tables in ${nameOf(url)}`, 'grant CREATE on its schema', options);
  }
  const explained = explainEncryption(error, url);
  if (explained !== null) return explained;
  if (isUnreachable(error)) {
    return new StartupError(`${nameOf(url)} does not answer`, 'check host and port, and that PostgreSQL runs', options);
  }
  return error;
}

/** Says why a connection cannot be encrypted; null for any other error. */
function explainEncryption(error: unknown, url: string): StartupError | null {
  if (!(error instanceof Error)) return null;
  const options = { cause: error };
  if (NOT_VERIFIED.test(String(codeOf(error)))) {
    const [why] = error.message.split(';');
    return new StartupError(
      `${nameOf(url)} has a certificate that cannot be verified: ${why}`,
      'name the authority that has signed it with sslrootcert=FILE in the address; sslmode=no-verify trusts anybody',
      options,
    );
  }
  if (error.message.includes('does not support SSL')) {
    const hint = 'switch ssl on there, or leave sslmode out of the address';
    return new StartupError(`${nameOf(url)} does not encrypt connections`, hint, options);
  }
  if ('path' in error && typeof error.path === 'string') {
    const hint = 'check sslrootcert, sslcert and sslkey in the address';
    return new StartupError(`${error.path} cannot be read (${codeOf(error)})`, hint, options);
  }
  return null;
}

/** Codes of OpenSSL and of Node.js for a certificate that is not trusted. */
const NOT_VERIFIED =
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_)/;

/** `protocol_violation`: by which PgBouncer refuses a connection that comes with settings. */
const UNSUPPORTED_PARAMETER = '08P01';

const UNREACHABLE: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'ECONNRESET',
  'EHOSTUNREACH',
  '57P03',
];

function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  const message = error instanceof Error ? error.message : '';
  return UNREACHABLE.includes(codeOf(error)) || /timeout|terminated/i.test(message);
}

/** The database as it may be shown: without user and password. */
export function nameOf(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `the PostgreSQL database ${host || 'localhost'}${pathname}`;
  } catch {
    return 'the PostgreSQL database';
  }
}
