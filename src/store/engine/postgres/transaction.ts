import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg';
import { causeOf, OutcomeUnknown, StorageError } from '../../errors.ts';
import { type Connection, commits } from '../driver.ts';
import { attempt, codeOf, connect, isFromServer, type Prepare, type Sent, toStorageError } from './connection.ts';
import { SILENCE_TIMEOUT_MS } from './pool.ts';

const MAX_ATTEMPTS = 5;

const RETRY_AFTER_MS = 10;

/** `serialization_failure` and `deadlock_detected`: PostgreSQL asks for the transaction to be run again. */
const RUN_AGAIN: readonly unknown[] = ['40001', '40P01'];

/** The state of the commits of a process. */
export interface Commits {
  /** Whether the last commit is slow, or has no known outcome. */
  isInDoubt: boolean;
  /** Connections with an abandoned commit. Each stays in the pool until PostgreSQL answers or the connection ends. */
  readonly abandoned: Set<PoolClient>;
}

export const newCommits = (): Commits => ({ isInDoubt: false, abandoned: new Set() });

/** Runs a transaction on a pool, and again when it conflicts with other transactions. */
export async function transact<T>(
  pool: Pool,
  prepare: Prepare,
  work: (db: Connection) => Promise<T>,
  known = newCommits(),
): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await runOnce(pool, prepare, work, known);
    } catch (error) {
      if (error instanceof OutcomeUnknown) known.isInDoubt = true;
      if (round === MAX_ATTEMPTS || !RUN_AGAIN.includes(codeOf(causeOf(error)))) throw error;
      await sleep(RETRY_AFTER_MS * round);
    }
  }
}

async function runOnce<T>(
  pool: Pool,
  prepare: Prepare,
  work: (db: Connection) => Promise<T>,
  known: Commits,
): Promise<T> {
  const client = await attempt(() => pool.connect());
  const transaction = openTransaction(client);
  let committing: Promise<void> | null = null;
  let usable = false;
  try {
    const value = await work(connect(transaction, prepare));
    committing = commit(transaction);
    await withinTime(committing, known);
    usable = true;
    return value;
  } catch (error) {
    // After an unanswered commit there is nothing to roll back.
    if (!(error instanceof OutcomeUnknown)) usable = (await transaction.rollBack()) && !isReadOnly(error);
    throw error;
  } finally {
    if (usable) client.release();
    else void releaseOnceAnswered(client, committing, known);
  }
}

/** `read_only_sql_transaction`. A connection that began while the database was read-only stays read-only for ever. */
const isReadOnly = (error: unknown): boolean => codeOf(causeOf(error)) === '25006';

/** A commit that takes longer may wait for a standby. */
const SLOW_COMMIT_MS = 2_000;

/** Waits for a commit as long as for any statement; then throws OutcomeUnknown. */
async function withinTime(committing: Promise<void>, known: Commits): Promise<void> {
  const tooLate = Promise.withResolvers<never>();
  const giveUp = () => tooLate.reject(new OutcomeUnknown(new Error('COMMIT has no answer')));
  let timer = setTimeout(() => {
    known.isInDoubt = true;
    timer = setTimeout(giveUp, SILENCE_TIMEOUT_MS - SLOW_COMMIT_MS);
  }, SLOW_COMMIT_MS);
  try {
    await Promise.race([committing, tooLate.promise]);
    known.isInDoubt = false;
  } finally {
    clearTimeout(timer);
  }
}

/** PostgreSQL finishes a commit although its connection is closed: closing early would use up its connections. */
async function releaseOnceAnswered(
  client: PoolClient,
  committing: Promise<void> | null,
  known: Commits,
): Promise<void> {
  known.abandoned.add(client);
  await committing?.catch(() => {});
  known.abandoned.delete(client);
  client.release(true);
}

/** Commits, and checks the command tag: PostgreSQL answers COMMIT of a failed transaction with ROLLBACK. */
async function commit(transaction: Pick<ReturnType<typeof openTransaction>, 'commit'>): Promise<void> {
  const committing = commits.tracePromise(transaction.commit, { size: 1, isSynchronous: false });
  const { command, failure, warning } = await committing.catch((error: unknown) => {
    // A lost connection says nothing of the outcome, nor does a server that is shutting down.
    const isRefused = isFromServer(error) && !/^(08|57P)/.test(error.code);
    throw isRefused ? new StorageError(error) : new OutcomeUnknown(error);
  });
  if (failure !== null) throw toStorageError(failure);
  if (command !== 'COMMIT') throw new StorageError(new Error(`the commit was answered with ${command}`));
  // For example 01000, a cancelled wait for a standby: maybe only this server has the commit.
  if (warning !== null) throw new OutcomeUnknown(warning);
}

/** The statements of one transaction. BEGIN is sent with the first statement. */
function openTransaction(client: PoolClient) {
  const { stream } = client.connection;
  const unanswered: Promise<unknown>[] = [];
  let isCorked = false;
  let hasBegun = false;

  function submit(statement: Sent | typeof COMMIT): Promise<QueryResult> {
    const answer = client.query(statement as QueryConfig);
    answer.catch(() => {}); // whoever waits next throws it
    return answer;
  }

  /** Collects the statements until {@link uncork}, which sends them at once. */
  function cork(): void {
    if (!isCorked) stream.cork();
    isCorked = true;
  }

  function uncork(): void {
    if (isCorked) stream.uncork();
    isCorked = false;
  }

  /** Waits for the answers so far. Throws the error of the first failed statement: later statements fail because of it. */
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

  /** Waits for the answer to BEGIN before a change, which would otherwise commit by itself. Reads need not wait. */
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
    /** Rolls back. Resolves to false if the outcome is not certain. */
    rollBack(): Promise<boolean> {
      uncork();
      return client.query('ROLLBACK').then(
        () => true,
        () => false,
      );
    },
    /** Sends COMMIT. Resolves to the command tag, the warning, and the error of an earlier statement, or null. */
    async commit() {
      using notices = watchNotices(client);
      const answer = submit(COMMIT);
      const failure: unknown = await awaitAnswers().then(
        () => null,
        (error: unknown) => error,
      );
      return { command: (await answer).command, failure, warning: notices.warning() };
    },
  };
}

/** Keeps the last warning of a connection, until it is disposed of. */
function watchNotices(client: PoolClient) {
  let warning: Error | null = null;
  const onNotice = ({ code, message }: { code?: string | undefined; message?: string | undefined }) => {
    if (code !== SUCCESSFUL) warning = Object.assign(new Error(message), { code });
  };
  client.on('notice', onNotice);
  return { warning: (): Error | null => warning, [Symbol.dispose]: () => client.off('notice', onNotice) };
}

/** The SQLSTATE of a mere notice. */
const SUCCESSFUL = '00000';

/** Without the time limit of `pg` for statements, which would close the connection. */
const COMMIT = { text: 'COMMIT', query_timeout: 2 ** 31 - 1 };
