import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StartupError } from '../../errors.ts';
import { codeOf } from './connection.ts';
import { explain } from './explain.ts';
import { hostsOf, nameOf, wantsPrimary } from './hosts.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Settings of a session, which override settings of the user and of the database; versions of PostgreSQL that lack one leave
 * it out.
 */
const settingsOf = (statement: number, lock: number, idle: number) => `
  select set_config(name, value, false) from pg_settings join (values ('statement_timeout', '${statement}'),
    ('lock_timeout', '${lock}'), ('idle_in_transaction_session_timeout', '${idle}'), ('transaction_timeout', '0'),
    ('idle_session_timeout', '0')) as wanted (name, value) using (name)`;

/** Bounds on the waits of a request, in milliseconds. */
const REQUEST_SETTINGS = settingsOf(10_000, 5_000, 15_000);

/** Settings for operators: no time limits. */
const OPERATOR_SETTINGS = settingsOf(0, 0, 0);

/** Time limit of the client: a silent connection would otherwise hold its request and its idempotency key for hours. */
export const SILENCE_TIMEOUT_MS = 12_000;

/** TCP keep-alive, in milliseconds: after this silence the system sends probes. */
const KEEP_ALIVE_MS = 10_000;

/** The most connections of one process, with the connection for locks. */
const CONNECTIONS = 17;

/** Reads have connections of their own, so that transactions that wait for locks do not make them wait. */
export function shareConnections(connections = CONNECTIONS) {
  const forReads = Math.max(1, Math.round((connections - 1) * 0.375));
  return { forReads, forTransactions: connections - 1 - forReads };
}

/** The connections of a command that inspects a database. */
export const OPERATOR_CONNECTIONS = 10;

/**
 * Connects to a PostgreSQL database; its schema may be of any age.
 *
 * @param max how many connections requests share; without it, for an operator's work, which takes as long as it takes
 * @throws StartupError when the server cannot be reached, refuses the user, or cannot be written to
 */
export async function openPool(url: string, max?: number): Promise<pg.Pool> {
  const pool = max === undefined ? createPool(url, {}, OPERATOR_SETTINGS) : createRequestPool(url, max);
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
  createPool(url, { max, query_timeout: SILENCE_TIMEOUT_MS }, REQUEST_SETTINGS);

/**
 * Makes a pool that connects when it is first used.
 *
 * @param first the first statement of each connection. It carries the settings, since poolers refuse a connection that
 * begins with it
 */
export function createPool(url: string, config: pg.PoolConfig, first: string): pg.Pool {
  const pool = new PatientPool(hostsOf(verifying(url)), {
    application_name: 'lkm',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // A transaction sends several statements before the first is answered.
    pipeline: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    async onConnect(client) {
      if (wantsPrimary(url)) await refuseStandby(client, url);
      await client.query(first);
    },
    ...config,
  });
  // The pool drops a client that fails while idle; the next query opens another.
  pool.on('error', () => {});
  // A client that fails in use reports it through its query; without a listener the event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

type OnConnected = (error: Error | undefined, client: pg.PoolClient | undefined, done: () => void) => void;

/** Tries one host after another, and waits if PostgreSQL has no free connection. */
class PatientPool extends pg.Pool {
  readonly #hosts: readonly string[];

  constructor(hosts: readonly string[], config: pg.PoolConfig) {
    super({ ...config, connectionString: hosts[0] });
    this.#hosts = hosts;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: OnConnected): void;
  override connect(callback?: OnConnected): Promise<pg.PoolClient> | undefined {
    const connecting = this.#connect();
    if (callback === undefined) return connecting;
    connecting.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }

  async #connect(): Promise<pg.PoolClient> {
    let hostsLeft = this.#hosts.length;
    for (let waited = 0; ; ) {
      const tried = this.options.connectionString;
      try {
        return await super.connect();
      } catch (error) {
        if (codeOf(error) === TOO_MANY_CONNECTIONS && waited < CONNECT_TIMEOUT_MS) {
          waited += RETRY_MS;
          await sleep(RETRY_MS);
          continue;
        }
        if (hostsLeft === 1 || this.totalCount >= this.options.max) throw error;
        hostsLeft -= 1;
        // Another caller may have chosen the next host meanwhile.
        if (this.options.connectionString === tried) this.options.connectionString = this.#hostAfter(tried);
      }
    }
  }

  #hostAfter(tried = ''): string | undefined {
    return this.#hosts[(this.#hosts.indexOf(tried) + 1) % this.#hosts.length];
  }
}

const TOO_MANY_CONNECTIONS = '53300';
const RETRY_MS = 100;

/** Ends connections to a former primary once another host is the primary. */
async function refuseStandby(client: pg.ClientBase, url: string): Promise<void> {
  const { rows } = await client.query('show transaction_read_only');
  if (rows[0]?.transaction_read_only !== 'on') return;
  throw new StartupError(`${nameOf(url)} has no primary server`, 'promote one of its hosts, or add the primary');
}

/**
 * Has `prefer`, `require` and `verify-ca` verify the certificate with its name. `pg` does so by itself, with a warning of eight
 * lines.
 */
const verifying = (url: string): string =>
  /[?&]uselibpqcompat=true/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');

/** Tables of lkm have one schema and one owner. */
const SERVER = `
  select current_setting('transaction_read_only') as read_only, current_setting('server_encoding') as encoding,
    pg_backend_pid() as pid,
    (select string_agg(privilege, ', ') || ' in the table ' || relname
     from pg_class cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) privilege
     where relkind = 'r' and not has_table_privilege(pg_class.oid, privilege) and (relnamespace, relowner)
       = (select relnamespace, relowner from pg_class where oid = to_regclass('licenses'))
     group by relname order by relname limit 1) as lacking
`;

/**
 * Checks that the server takes writes, that the user may use the tables, and that no pooler shares connections. Otherwise each
 * change would fail and be retried in vain.
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
        `the user may not ${found.lacking} of ${name}`,
        'use the user that made them, or grant SELECT, INSERT, UPDATE and DELETE on all of them',
      );
    }
    // A pooler gives its own process numbers to clients.
    const isDirect = 'processID' in client && client.processID === found?.pid;
    if (!isDirect && (await isHandedOn(client, pool))) {
      // Prepared statements and settings would then belong to another client.
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
 * Whether a pooler gives the server's connection to another client after each transaction. Without such a pooler, a client
 * keeps its server process while another client has begun a transaction, and the two processes differ.
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
