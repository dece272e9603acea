import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg, { type ClientBase, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { ConstraintError, causeOf, OutcomeUnknown, ReadTooBroad, StorageError } from '../../errors.ts';
import { type Connection, commits } from '../driver.ts';
import { asItIs, prepareOnce, type Sql, type SqlValue, write } from '../sql.ts';

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

type Sent = string | { readonly text: string; readonly name?: string; readonly values: readonly unknown[] };

/** Sends statements, which the server does and answers in their order. */
interface Pipeline {
  /** Sends a statement, and waits for its answer. */
  query(statement: Sent): Promise<QueryResult>;
  /** Sends a statement together with the next one that is waited for, which throws what this one throws. */
  send(statement: Sent): Promise<unknown>;
}

/** Runs statements on whatever client of the pool is free, or in one transaction. */
export function connect(client: Pool | ClientBase | Pipeline, prepare: Prepare): Connection {
  const { query, send } = 'send' in client ? client : pipelineOf(client);
  const toSent = (sql: Sql): Sent => {
    const [prepared, values] = prepare(sql);
    return { ...prepared, values };
  };
  const execute = (sql: Sql): Promise<QueryResult> => attempt(() => query(toSent(sql)));
  return {
    keepsPlans: false,
    all: async <R, T>(sql: Sql, read: (row: R) => T = asItIs) => (await execute(sql)).rows.map((row) => read(row)),
    async first<R, T>(sql: Sql, read: (row: R) => T = asItIs) {
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
        // After a lost connection there is nothing to go back to; the error itself says so.
        await query('ROLLBACK TO nested').catch(() => {});
        throw error;
      }
    },
    async tryLock(name) {
      // 64 bits. Two names with the same bits would exclude each other, which does no harm.
      const id = hash('sha256', name, 'buffer').readBigInt64BE().toString();
      const text = 'select pg_try_advisory_xact_lock($1) as taken';
      const { rows } = await attempt(() => query({ name: 'lkm_lock', text, values: [id] }));
      return rows[0]?.taken === true;
    },
    // Transactions commit by themselves.
    stage: () => false,
  };
}

/** Outside of a transaction nothing would throw later: each statement is waited for. */
function pipelineOf(client: Pool | ClientBase): Pipeline {
  const query = (statement: Sent) => client.query(statement as QueryConfig);
  return { query, send: query };
}

/** The statements of one transaction. It begins together with the first of them. */
function openTransaction(client: PoolClient) {
  const { stream } = client.connection;
  const unanswered: Promise<unknown>[] = [];
  let isCorked = false;
  let hasBegun = false;

  function submit(statement: Sent): Promise<QueryResult> {
    const answer = client.query(statement as QueryConfig);
    answer.catch(() => {}); // whoever waits next throws it
    return answer;
  }

  /** Until {@link uncork}, what is sent is gathered, and then written at once. */
  function cork(): void {
    if (!isCorked) stream.cork();
    isCorked = true;
  }

  function uncork(): void {
    if (isCorked) stream.uncork();
    isCorked = false;
  }

  /** Waits for the answers so far. Throws what the first statement to fail throws: those after it fail because of it. */
  async function awaitAnswers(): Promise<void> {
    uncork();
    for (const answer of unanswered.splice(0)) await answer;
  }

  cork();
  const begun = submit('BEGIN').then(() => {
    hasBegun = true;
  });
  begun.catch(() => {});
  unanswered.push(begun);

  /** Waits until the transaction has begun, for a change: outside of it, it would be made at once. Reads need not wait. */
  async function awaitBegin(statement: Sent): Promise<void> {
    if (hasBegun || /^\s*select\b/i.test(typeof statement === 'string' ? statement : statement.text)) return;
    uncork();
    await begun;
  }

  return {
    async query(statement: Sent): Promise<QueryResult> {
      await awaitBegin(statement);
      const answer = submit(statement);
      await awaitAnswers();
      return answer;
    },
    async send(statement: Sent): Promise<void> {
      await awaitBegin(statement);
      cork();
      unanswered.push(submit(statement));
    },
    /** Undoes everything, whatever the statements before have done. Resolves to false when that is not certain. */
    rollBack(): Promise<boolean> {
      uncork();
      return client.query('ROLLBACK').then(
        () => true,
        () => false,
      );
    },
    /** Sends COMMIT. Resolves to the tag of its answer, and to what a statement before it has thrown, or null. */
    async commit() {
      const answer = submit('COMMIT');
      const failure: unknown = await awaitAnswers().then(
        () => null,
        (error: unknown) => error,
      );
      return { command: (await answer).command, failure };
    },
  };
}

/** SQLSTATE class 23, integrity constraint violation. */
const CONSTRAINT = /^23/;

/** Of a statement that took longer than `statement_timeout`. */
const QUERY_CANCELED = '57014';

/** Runs one query. */
async function attempt<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw toStorageError(error);
  }
}

/** What the database or the way to it throws, as a StorageError, a ConstraintError or a ReadTooBroad. */
function toStorageError(error: unknown): Error {
  if (error instanceof Error && CONSTRAINT.test(String(codeOf(error)))) return new ConstraintError(error);
  return isFromServer(error) && error.code === QUERY_CANCELED ? new ReadTooBroad(error) : new StorageError(error);
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
  const transaction = openTransaction(client);
  let usable = false;
  try {
    const value = await work(connect(transaction, prepare));
    await commit(transaction);
    usable = true;
    return value;
  } catch (error) {
    // After a commit without an answer there is nothing to take back, and nobody may be listening.
    if (!(error instanceof OutcomeUnknown)) usable = await transaction.rollBack();
    throw error;
  } finally {
    client.release(!usable);
  }
}

/** Commits and checks the command tag: PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK. */
async function commit(transaction: Pick<ReturnType<typeof openTransaction>, 'commit'>): Promise<void> {
  const committing = commits.tracePromise(transaction.commit, { size: 1, isSynchronous: false });
  const { command, failure } = await committing.catch((error: unknown) => {
    // A lost connection says nothing of the outcome, nor does a server that is shutting down.
    const isRefused = isFromServer(error) && !/^(08|57P)/.test(error.code);
    throw isRefused ? new StorageError(error) : new OutcomeUnknown(error);
  });
  if (failure !== null) throw toStorageError(failure);
  if (command !== 'COMMIT') throw new StorageError(new Error(`the commit was answered with ${command}`));
}
