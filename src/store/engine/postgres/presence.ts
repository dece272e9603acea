import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, QueryResult } from 'pg';
import { StartupError } from '../../errors.ts';
import type { Database } from '../driver.ts';
import { createPool } from './pool.ts';

/**
 * The advisory lock of a PostgreSQL database: every lkm shares it while it works on the tables, and takes it alone to change
 * the schema or the data key, on which the other processes rely. The two numbers are arbitrary.
 */
const LOCK_NUMBERS = '1818979700, 1';

/** Shares the lock until its connection ends. */
const SHARE = `select pg_advisory_lock_shared(${LOCK_NUMBERS})`;

const LOOK_EVERY_MS = 1_000;

/** A connection that is never busy. */
export interface Presence {
  /** Runs a statement with a time limit of a second. */
  query(text: string): Promise<QueryResult>;
  /** Replaces the connection: a new connection has the current settings of the server. */
  renew(): void;
  leave(): Promise<void>;
}

const QUERY_TIMEOUT_MS = 1_000;

/**
 * Prevents migrations while this process works on the database, by a lock on a connection of its own, which is renewed when
 * lost. Waits for a running migration.
 */
export async function showPresence(url: string): Promise<Presence> {
  const pool = createPool(url, { max: 1, idleTimeoutMillis: 0 }, SHARE);
  const connect = async () => (await pool.connect()).release();
  await connect();
  const reconnect = () => void (pool.totalCount === 0 && connect().catch(() => {}));
  const timer = setInterval(reconnect, LOOK_EVERY_MS).unref();
  return {
    query: (text) => pool.query(Object.assign({ text }, { query_timeout: QUERY_TIMEOUT_MS })),
    renew: () =>
      void pool.connect().then(
        (client) => client.release(true),
        () => {},
      ),
    async leave() {
      clearInterval(timer);
      await pool.end();
    },
  };
}

/** How long to wait for the lock: stopping and starting servers hold it for a moment. */
const IN_USE_TIMEOUT_MS = 2_000;
const PAUSE_MS = 100;

const USERS = `
  select count(*) filter (where mode = 'ShareLock')::int as users from pg_locks
  where locktype = 'advisory' and granted and classid = 1818979700 and objid = 1 and objsubid = 2
    and database = (select oid from pg_database where datname = current_database())`;

/** Runs `work` while no other process uses a PostgreSQL database: see {@link Database.alone}. */
export async function alone<T>(
  pool: Pool,
  work: () => Promise<T>,
  findDone: () => Promise<T | null> = async () => null,
): Promise<T> {
  const client = await pool.connect();
  try {
    for (let waited = 0; ; waited += PAUSE_MS) {
      const taken = await client.query(`select pg_try_advisory_lock(${LOCK_NUMBERS}) as taken`);
      if (taken.rows[0]?.taken === true) return await work();
      const done = await findDone();
      if (done !== null) return done;
      const { rows } = await client.query(USERS);
      const users = Number(rows[0]?.users);
      if (users > 0 && waited >= IN_USE_TIMEOUT_MS) {
        throw new StartupError(
          `the database is in use by ${users === 1 ? 'a server or command' : `${users} servers or commands`} of lkm`,
          'stop every server on it, then try again',
        );
      }
      await sleep(PAUSE_MS);
    }
  } finally {
    // The lock ends with the connection.
    client.release(true);
  }
}
