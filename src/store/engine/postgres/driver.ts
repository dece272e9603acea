import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { StorageError } from '../../errors.ts';
import { ensureSchema, migrate } from '../../migrate.ts';
import type { Database, Driver, OpenForReading, OpenOptions } from '../driver.ts';
import { sql } from '../sql.ts';
import { connect, createPrepare } from './connection.ts';
import { explain } from './explain.ts';
import { checkCondition } from './health.ts';
import { createRequestPool, OPERATOR_CONNECTIONS, openPool, shareConnections } from './pool.ts';
import { alone, type Presence, showPresence } from './presence.ts';
import { newCommits, transact } from './transaction.ts';

const SETTLE_RETRY_MS = 100;

/**
 * Opens a PostgreSQL database, which any number of processes may share. An empty database gets its schema.
 *
 * @throws StartupError when the server cannot be reached, refuses the user, cannot be written to, or the schema is of
 * another version
 */
export async function openPostgres(url: string, options: OpenOptions = {}): Promise<Driver> {
  const { forTransactions, forReads } = shareConnections(options.connections);
  const writers = await openPool(url, forTransactions);
  const prepare = createPrepare();
  const presence = await enter(databaseOn(writers, url, prepare), url, options).catch(async (error: unknown) => {
    await writers.end();
    throw explain(error, url);
  });
  const readers = createRequestPool(url, forReads);
  const check = oncePer(CHECK_EVERY_MS, () => checkCondition(presence.query, url, presence.renew));
  const known = newCommits();
  const underWay = new Set<Promise<unknown>>();
  let closing = false;
  return {
    warnings: [],
    reader: connect(readers, prepare),
    isOnlyWriter: false,
    async transaction(work) {
      if (closing) throw new StorageError(new Error('the database was closed'));
      // While commits are in doubt, another commit would take one more connection, with an unknown outcome as well.
      if (known.isInDoubt) await check();
      const running = transact(writers, prepare, work, known);
      underWay.add(running);
      return running.finally(() => underWay.delete(running));
    },
    settled: () => untilItWorks(check),
    check,
    explain: (error) => explain(error, url),
    publishUrl: () => {},
    close: async () => {
      closing = true;
      // `pg` leaves callers that wait for a connection waiting until their timeout when a pool ends.
      await Promise.allSettled(underWay);
      for (const { connection } of known.abandoned) connection.stream.destroy();
      await Promise.all([writers.end(), readers.end(), presence.leave()]);
    },
  };
}

const CHECK_EVERY_MS = 1_000;

/** Caches the result of `ask` for a while. */
function oncePer<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null;
  const forget = () => {
    asked = null;
  };
  return () => {
    if (asked === null) {
      asked = ask();
      setTimeout(forget, ms).unref();
    }
    return asked;
  };
}

/** Makes the schema if needed, and keeps other processes from migrating it until this process ends. */
async function enter(database: Database, url: string, options: OpenOptions): Promise<Presence> {
  const presence = await showPresence(url);
  try {
    if ((await ensureSchema(database, { ...options, location: url })) === 'current') return presence;
  } catch (error) {
    await presence.leave();
    throw error;
  }
  await presence.leave();
  // A migration has no time limit, and neither has the wait for a server that migrates.
  const unlimited = await openPostgresDatabase(url);
  await migrate(unlimited).finally(unlimited.close);
  return showPresence(url);
}

/**
 * Waits until changes work. An unanswered commit holds its locks until its transaction is over; from then on its claim is
 * either stored or refused as in progress.
 */
async function untilItWorks(check: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await check();
      return;
    } catch {
      await sleep(SETTLE_RETRY_MS, undefined, { ref: false });
    }
  }
}

/** Opens a PostgreSQL database for an operator, without time limits. Throws StartupError as above. */
export const openPostgresDatabase = async (url: string): Promise<Database> => databaseOn(await openPool(url), url);

export async function openForReading(url: string): Promise<OpenForReading> {
  const pool = await openPool(url, OPERATOR_CONNECTIONS);
  const check = () => checkCondition((text) => pool.query(text), url);
  return { ...databaseOn(pool, url), owner: null, warnings: [], check };
}

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
