import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg, { type ClientBase, type Pool, type PoolClient, type QueryResult } from 'pg';
import { ConstraintError, causeOf, OutcomeUnknown, ReadTooBroad, StorageError } from '../../errors.ts';
import { type Connection, commits } from '../driver.ts';
import { prepareOnce, type Sql, type SqlValue, write } from '../sql.ts';

/** A connection keeps what it has parsed until it ends: lists with rare filters must not fill its memory. */
const MAX_NAMES = 1_000;

/** A statement as PostgreSQL takes it: under a name it is parsed once per connection. */
interface Prepared {
  readonly text: string;
  readonly name?: string;
}

type Prepare = (statement: Sql) => readonly [prepared: Prepared, values: SqlValue[]];

/** Prepares statements for all connections of a process. The first ones have names. */
export function createPrepare(): Prepare {
  const names = new Map<string, string>();
  return prepareOnce((statement) => {
    const text = write(statement, (position) => `$${position}`);
    if (names.size < MAX_NAMES && !names.has(text)) names.set(text, `lkm_${names.size}`);
    const name = names.get(text);
    return { text, ...(name !== undefined && { name }) };
  });
}

/** Runs statements on one client, inside its transaction, or on whatever client of the pool is free. */
export function connect(client: ClientBase | Pool, prepare: Prepare): Connection {
  async function execute(sql: Sql): Promise<QueryResult> {
    const [prepared, values] = prepare(sql);
    return attempt(() => client.query({ ...prepared, values }));
  }

  return {
    all: async (sql) => (await execute(sql)).rows,
    first: async (sql) => (await execute(sql)).rows[0],
    run: async (sql) => (await execute(sql)).rowCount ?? 0,
    async nested(work) {
      await attempt(() => client.query('SAVEPOINT nested'));
      try {
        const value = await work();
        await attempt(() => client.query('RELEASE nested'));
        return value;
      } catch (error) {
        // After a lost connection there is nothing to go back to; the error itself says so.
        await client.query('ROLLBACK TO nested').catch(() => {});
        throw error;
      }
    },
    async tryLock(name) {
      // 64 bits. Two names with the same bits would exclude each other, which does no harm.
      const id = hash('sha256', name, 'buffer').readBigInt64BE().toString();
      const text = 'select pg_try_advisory_xact_lock($1) as taken';
      const { rows } = await attempt(() => client.query({ name: 'lkm_lock', text, values: [id] }));
      return rows[0]?.taken === true;
    },
    // Transactions commit by themselves.
    stage: () => false,
  };
}

/** SQLSTATE class 23, integrity constraint violation. */
const CONSTRAINT = /^23/;

/** Of a statement that took longer than `statement_timeout`. */
const QUERY_CANCELED = '57014';

/** Runs one query; what the database or the way to it throws becomes a StorageError, or a ConstraintError. */
async function attempt<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (error instanceof Error && CONSTRAINT.test(String(codeOf(error)))) throw new ConstraintError(error);
    if (isFromServer(error) && error.code === QUERY_CANCELED) throw new ReadTooBroad(error);
    throw new StorageError(error);
  }
}

/** The SQLSTATE of an error of PostgreSQL (`40001`), or the code of one of the system (`ECONNREFUSED`). */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Whether PostgreSQL itself has refused something, and the code is one of SQLSTATE: `EPIPE` has five letters, too. */
export const isFromServer = (error: unknown): error is pg.DatabaseError & { readonly code: string } =>
  error instanceof pg.DatabaseError && error.code !== undefined;

const MAX_ATTEMPTS = 5;

const RETRY_AFTER_MS = 10;

/** `serialization_failure` and `deadlock_detected`: PostgreSQL asks for the transaction to be run again. */
const RUN_AGAIN: readonly unknown[] = ['40001', '40P01'];

/** Runs a transaction on a pool, and again when it conflicts with others. */
export async function transact<T>(pool: Pool, prepare: Prepare, work: (db: Connection) => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await runOnce(pool, prepare, work);
    } catch (error) {
      if (round === MAX_ATTEMPTS || !RUN_AGAIN.includes(codeOf(causeOf(error)))) throw error;
      await sleep(RETRY_AFTER_MS * round);
    }
  }
}

async function runOnce<T>(pool: Pool, prepare: Prepare, work: (db: Connection) => Promise<T>): Promise<T> {
  const client = await attempt(() => pool.connect());
  let usable = false;
  try {
    await attempt(() => client.query('BEGIN'));
    const value = await work(connect(client, prepare));
    await commit(client);
    usable = true;
    return value;
  } catch (error) {
    // After a commit without an answer there is nothing to take back, and nobody may be listening.
    if (!(error instanceof OutcomeUnknown)) {
      usable = await client.query('ROLLBACK').then(
        () => true,
        () => false,
      );
    }
    throw error;
  } finally {
    client.release(!usable);
  }
}

/** Commits and checks the command tag: PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK. */
async function commit(client: PoolClient): Promise<void> {
  const committing = commits.tracePromise(() => client.query('COMMIT'), { size: 1, isSynchronous: false });
  const { command } = await committing.catch((error: unknown) => {
    // A lost connection says nothing of the outcome, nor does a server that is shutting down.
    const isRefused = isFromServer(error) && !/^(08|57P)/.test(error.code);
    throw isRefused ? new StorageError(error) : new OutcomeUnknown(error);
  });
  if (command !== 'COMMIT') throw new StorageError(new Error(`the commit was answered with ${command}`));
}
