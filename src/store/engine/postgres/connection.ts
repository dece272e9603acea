import { hash } from 'node:crypto';
import pg, { type ClientBase, type Pool, type QueryConfig, type QueryResult } from 'pg';
import { ConstraintError, ReadTooBroad, StorageError } from '../../errors.ts';
import type { Connection } from '../driver.ts';
import { identity, prepareOnce, type Sql, type SqlValue, write } from '../sql.ts';

/** The most prepared statements: a connection keeps each until it ends, and lists have many combinations of filters. */
const MAX_NAMES = 1_000;

/** A statement as PostgreSQL takes it: under a name it is parsed once per connection. */
interface Prepared {
  readonly text: string;
  readonly name?: string;
}

export type Prepare = (statement: Sql) => readonly [prepared: Prepared, values: readonly SqlValue[]];

/** Prepares statements for all connections of a process. The first statements have names. */
export function createPrepare(): Prepare {
  const names = new Map<string, string>();
  return prepareOnce((statement) => {
    const text = write(statement, (position) => `$${position}`);
    if (names.size < MAX_NAMES && !names.has(text)) names.set(text, `lkm_${names.size}`);
    const name = names.get(text);
    return { text, ...(name !== undefined && { name }) };
  });
}

export type Sent = string | { readonly text: string; readonly name?: string; readonly values: readonly unknown[] };

/** Sends statements; the server runs and answers them in order. */
interface Pipeline {
  /** Sends a statement, and waits for its answer. */
  query(statement: Sent): Promise<QueryResult>;
  /** Sends a statement together with the next awaited statement, which then throws the errors of both. */
  send(statement: Sent): Promise<unknown>;
}

/**
 * Writes a record to the log of PostgreSQL, so that the commit waits for a synchronous standby: a commit that has written
 * nothing, or has only a transaction id, does not wait.
 */
const CONFIRM =
  "select pg_logical_emit_message(true, 'lkm', '') where current_setting('synchronous_standby_names') <> ''";

const LOCK = `
  select pg_try_advisory_xact_lock($1) as taken, current_setting('synchronous_standby_names') as standbys`;

/** Runs statements on any free client of the pool, or in one transaction. */
export function connect(client: Pool | ClientBase | Pipeline, prepare: Prepare): Connection {
  const { query, send } = 'send' in client ? client : pipelineOf(client);
  const toSent = (sql: Sql): Sent => {
    const [prepared, values] = prepare(sql);
    return { ...prepared, values };
  };
  const execute = (sql: Sql): Promise<QueryResult> => attempt(() => query(toSent(sql)));
  /** Whether commits may have to wait for a standby. */
  let hasStandbys = true;
  return {
    all: async <R, T>(sql: Sql, read: (row: R) => T = identity) => (await execute(sql)).rows.map((row) => read(row)),
    async first<R, T>(sql: Sql, read: (row: R) => T = identity) {
      const [row] = (await execute(sql)).rows;
      return row === undefined ? null : read(row);
    },
    run: async (sql) => (await execute(sql)).rowCount ?? 0,
    send: (sql) => attempt(() => send(toSent(sql))),
    async nested(work) {
      await attempt(() => send('SAVEPOINT nested'));
      try {
        const value = await work();
        await attempt(() => send('RELEASE nested'));
        return value;
      } catch (error) {
        // After a lost connection there is no savepoint; the first error is thrown.
        await query('ROLLBACK TO nested').catch(() => {});
        throw error;
      }
    },
    async tryLock(name) {
      // 64 bits. Two names with equal bits would exclude each other, which is harmless.
      const id = hash('sha256', name, 'buffer').readBigInt64BE().toString();
      const { rows } = await attempt(() => query({ name: 'lkm_lock', text: LOCK, values: [id] }));
      hasStandbys = rows[0]?.standbys !== '';
      return rows[0]?.taken === true;
    },
    confirm: async () => hasStandbys && attempt(() => send(CONFIRM)),
    // Transactions commit by themselves.
    stage: () => false,
  };
}

/** Outside of a transaction each statement is awaited: no later statement could throw its error. */
function pipelineOf(client: Pool | ClientBase): Pipeline {
  const query = (statement: Sent) => client.query(statement as QueryConfig);
  return { query, send: query };
}

/** SQLSTATE class 23, integrity constraint violation. */
const CONSTRAINT = /^23/;

/** The SQLSTATE of a statement that took longer than `statement_timeout`. */
const QUERY_CANCELED = '57014';

/** Runs one query. */
export async function attempt<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw toStorageError(error);
  }
}

/** Converts an error of the driver to a StorageError, a ConstraintError or a ReadTooBroad. */
export function toStorageError(error: unknown): Error {
  if (error instanceof Error && CONSTRAINT.test(String(codeOf(error)))) return new ConstraintError(error);
  return isFromServer(error) && error.code === QUERY_CANCELED ? new ReadTooBroad(error) : new StorageError(error);
}

/** The SQLSTATE of an error of PostgreSQL (`40001`), or the code of a system error (`ECONNREFUSED`). */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Whether an error is from PostgreSQL itself, with a SQLSTATE; `EPIPE` also has five letters. */
export const isFromServer = (error: unknown): error is pg.DatabaseError & { readonly code: string } =>
  error instanceof pg.DatabaseError && error.code !== undefined;
