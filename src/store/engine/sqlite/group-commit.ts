import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { OutcomeUnknown, StorageError } from '../../errors.ts';
import { commits } from '../driver.ts';
import type { Undo } from './connection.ts';
import { codesOf } from './file.ts';

interface Waiting {
  run(): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Reads wait while a batch runs. */
const MAX_BATCH_SIZE = 256;

/** For how many turns of the event loop without a new transaction a batch waits, if it is smaller than the batch before. */
const MAX_QUIET_TURNS = 2;

/** How long a batch waits for more, in milliseconds: about as long as a commit takes. */
const MAX_WAIT_MS = 5;

const SETTLE_RETRY_MS = 100;

/** `SQLITE_BUSY`, `SQLITE_FULL`, `SQLITE_CONSTRAINT`: a commit refused for these has not happened (sqlite.org/rescode.html). */
const CERTAIN_REFUSALS: readonly number[] = [5, 13, 19];

/**
 * Runs all transactions that wait in one turn of the event loop under one durable commit; no transaction resolves before the
 * commit.
 *
 * Fewer commits mean fewer syncs to disk. So a batch waits for more transactions as long as each turn brings some, and a
 * little longer while it is smaller than the last batch: clients that got their responses together do not all send again in
 * the same turn, and the first request would be committed alone. After a batch of one, the next transaction does not wait.
 * No batch waits when reads make turns long.
 *
 * A failed transaction is undone alone, by its savepoint.
 *
 * A commit whose sync fails is in the log but not durable: recovery after a crash may still apply it. The next successful
 * commit overwrites it, so no other transaction runs until then.
 *
 * @param atCommit called at the end of each commit; if it throws, the whole batch is undone
 * @param monotonic milliseconds since any moment
 */
export function groupCommit(
  database: DatabaseSync,
  undo: Undo,
  atCommit: () => Promise<void>,
  monotonic: () => number,
) {
  const committer = createCommitter(database, undo, atCommit);
  const waiting: Waiting[] = [];
  let busy = false;
  let finishing = false;
  let lastSize = 1;
  /** The size of the batch one turn ago, and the number of turns in a row without a new transaction. */
  let gathered = 1;
  let quietTurns = 0;
  let waitingSince = 0;

  return {
    transaction: <T>(work: () => Promise<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        if (finishing) {
          reject(new StorageError(new Error('the database was closed')));
          return;
        }
        waiting.push({ run: work, resolve: resolve as Waiting['resolve'], reject });
        if (!busy) {
          busy = true;
          gather();
        }
      }),
    /** Resolves once no commit has an unknown outcome. */
    async settled(): Promise<void> {
      while (committer.isUnsettled()) {
        await sleep(SETTLE_RETRY_MS, undefined, { ref: false });
        if (!busy) committer.trySettle();
      }
    },
    /** Refuses new transactions, and resolves once all earlier transactions are finished. */
    async finish(): Promise<void> {
      finishing = true;
      while (busy) await nextTurn();
    },
  };

  function gather(): void {
    gathered = 1;
    quietTurns = 0;
    waitingSince = monotonic();
    setImmediate(drain);
  }

  async function drain(): Promise<void> {
    const { length } = waiting;
    quietTurns = length > gathered ? 0 : quietTurns + 1;
    gathered = length;
    const mayBringMore = quietTurns <= (length < lastSize ? MAX_QUIET_TURNS : 0);
    if (mayBringMore && length < MAX_BATCH_SIZE && monotonic() - waitingSince < MAX_WAIT_MS) {
      setImmediate(drain);
      return;
    }
    lastSize = length;
    await committer.commitTogether(waiting.splice(0, MAX_BATCH_SIZE));
    busy = waiting.length > 0;
    if (busy) gather();
  }
}

/** Commits batches of transactions; one batch at a time. */
function createCommitter(database: DatabaseSync, undo: Undo, atCommit: () => Promise<void>) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  let unsettled = false;

  return {
    commitTogether,
    trySettle,
    /** Whether the outcome of the last commit is unknown. */
    isUnsettled: () => unsettled,
  };

  async function commitTogether(batch: readonly Waiting[]): Promise<void> {
    try {
      if (unsettled) settle();
      const answers = await runAll(batch);
      commitAll(batch.length);
      for (const answer of answers) answer();
    } catch (error) {
      const isExplained = error instanceof OutcomeUnknown || error instanceof StorageError;
      const reason = isExplained ? error : new StorageError(error);
      for (const job of batch) job.reject(reason);
      tryRollBack();
    }
  }

  /** Runs all jobs of a batch in one transaction, without its commit; returns a function that then settles their promises. */
  async function runAll(batch: readonly Waiting[]): Promise<(() => void)[]> {
    begin.run();
    undo.begin();
    const answers: (() => void)[] = [];
    for (const job of batch) {
      try {
        const value = await undo.nested(job.run);
        answers.push(() => job.resolve(value));
      } catch (error) {
        // On a full or failing disk SQLite ends the transaction, and so every job of the batch.
        if (!database.isTransaction) throw error;
        answers.push(() => job.reject(error));
      }
    }
    await atCommit();
    return answers;
  }

  /** Throws OutcomeUnknown for a commit that may still take effect. */
  function commitAll(size: number): void {
    try {
      commits.traceSync(() => commit.run(), { size, isSynchronous: true });
    } catch (error) {
      unsettled = isInDoubt(error);
      throw unsettled ? new OutcomeUnknown(error) : error;
    }
  }

  function trySettle(): void {
    try {
      settle();
    } catch {
      // `settled` tries again.
      tryRollBack();
    }
  }

  /** Overwrites the commit in doubt with a durable commit. Writing an unchanged value would write nothing. */
  function settle(): void {
    const row = database.prepare('PRAGMA user_version').get() as { user_version: number };
    database.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${(row.user_version + 1) % 1_000_000}; COMMIT`);
    unsettled = false;
  }

  function tryRollBack(): void {
    try {
      // The failure may have ended the transaction; a closed database has no transaction.
      if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
    } catch {
      // The transaction is still open: the next batch fails to begin, with a known outcome, and tries again.
    }
  }
}

/** Whether a failed commit may still be in the log; only if the error is from SQLite. */
function isInDoubt(error: unknown): boolean {
  const { errcode } = codesOf(error);
  return errcode !== 0 && !CERTAIN_REFUSALS.includes(errcode & 0xff);
}
