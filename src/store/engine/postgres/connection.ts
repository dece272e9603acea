import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg, { type ClientBase, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg';
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

type Sent = string | { readonly text: string; readonly name?: string; readonly values: readonly unknown[] };

/** How statements get to the server: in order, and answered in order. */
interface Line {
  /** Sends a statement, and waits for its answer. */
  ask(statement: Sent): Promise<QueryResult>;
  /** Sends a statement together with the next one that is waited for. What it throws, that throws. */
  send(statement: Sent): Promise<unknown>;
}

/** Runs statements on whatever client of the pool is free, or on the client of one transaction. */
export function connect(client: Pool | ClientBase | Line, prepare: Prepare): Connection {
  const { ask, send }: Line = 'ask' in client ? client : lineOf(client);
  const toSent = (sql: Sql): Sent => {
    const [prepared, values] = prepare(sql);
    return { ...prepared, values };
  };
  const execute = (sql: Sql): Promise<QueryResult> => attempt(() => ask(toSent(sql)));
  return {
    all: async (sql) => (await execute(sql)).rows,
    first: async (sql) => (await execute(sql)).rows[0],
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
        await ask('ROLLBACK TO nested').catch(() => {});
        throw error;
      }
    },
    async tryLock(name) {
      // 64 bits. Two names with the same bits would exclude each other, which does no harm.
      const id = hash('sha256', name, 'buffer').readBigInt64BE().toString();
      const text = 'select pg_try_advisory_xact_lock($1) as taken';
      const { rows } = await attempt(() => ask({ name: 'lkm_lock', text, values: [id] }));
      return rows[0]?.taken === true;
    },
    // Transactions commit by themselves.
    stage: () => false,
  };
}

function lineOf(client: Pool | ClientBase): Line {
  const ask = (statement: Sent) => client.query(statement as QueryConfig);
  return { ask, send: ask };
}

/** The line of one transaction, which begins with its first statement. */
function openLine(client: PoolClient) {
  const { stream } = client.connection;
  const unanswered: Promise<unknown>[] = [];
  let isHeld = false;
  let hasBegun = false;

  function query(statement: Sent): Promise<QueryResult> {
    const answer = client.query(statement as QueryConfig);
    answer.catch(() => {}); // told to whoever asks next
    return answer;
  }

  /** Keeps what is written until {@link release}: it leaves in one piece. */
  function hold(): void {
    if (!isHeld) stream.cork();
    isHeld = true;
  }

  function release(): void {
    if (isHeld) stream.uncork();
    isHeld = false;
  }

  /** Throws what the first statement to fail throws: those after it fail because of it. */
  async function settle(): Promise<void> {
    release();
    for (const answer of unanswered.splice(0)) await answer;
  }

  hold();
  const begun = query('BEGIN').then(() => {
    hasBegun = true;
  });
  begun.catch(() => {});
  unanswered.push(begun);

  /** A change outside of the transaction would be made at once. What only reads may go together with its beginning. */
  const begin = async (statement: Sent): Promise<void> => {
    if (hasBegun || /^\s*select\b/i.test(typeof statement === 'string' ? statement : statement.text)) return;
    release();
    await begun;
  };

  return {
    async ask(statement: Sent): Promise<QueryResult> {
      await begin(statement);
      const answer = query(statement);
      await settle();
      return answer;
    },
    async send(statement: Sent): Promise<void> {
      await begin(statement);
      hold();
      unanswered.push(query(statement));
    },
    /** Undoes it, whatever has become of the statements before; whether that is certain. */
    rollBack(): Promise<boolean> {
      release();
      return client.query('ROLLBACK').then(
        () => true,
        () => false,
      );
    },
    /** Sends COMMIT. Resolves to the tag of its answer, and to what a statement before it has thrown, or null. */
    async commit() {
      const answer = query('COMMIT');
      const failure: unknown = await settle().then(
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
  const line = openLine(client);
  let usable = false;
  try {
    const value = await work(connect(line, prepare));
    await commit(line);
    usable = true;
    return value;
  } catch (error) {
    // After a commit without an answer there is nothing to take back, and nobody may be listening.
    if (!(error instanceof OutcomeUnknown)) usable = await line.rollBack();
    throw error;
  } finally {
    client.release(!usable);
  }
}

/** Commits and checks the command tag: PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK. */
async function commit(line: Pick<ReturnType<typeof openLine>, 'commit'>): Promise<void> {
  const committing = commits.tracePromise(line.commit, { size: 1, isSynchronous: false });
  const { command, failure } = await committing.catch((error: unknown) => {
    // A lost connection says nothing of the outcome, nor does a server that is shutting down.
    const isRefused = isFromServer(error) && !/^(08|57P)/.test(error.code);
    throw isRefused ? new StorageError(error) : new OutcomeUnknown(error);
  });
  if (failure !== null) await attempt(() => Promise.reject(failure));
  if (command !== 'COMMIT') throw new StorageError(new Error(`the commit was answered with ${command}`));
}
