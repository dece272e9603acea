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

/** The limit keeps a batch short, so that reads do not wait for long. */
const MAX_BATCH_SIZE = 256;

/** How many turns of the event loop in a row may bring none to a batch that is smaller than the one before. */
const MAX_QUIET_TURNS = 2;

/** How long a batch waits for more, in milliseconds: about as long as a commit takes. */
const MAX_WAIT_MS = 5;

const SETTLE_RETRY_MS = 100;

/** `SQLITE_BUSY`, `SQLITE_FULL`, `SQLITE_CONSTRAINT`: a commit refused for these has not happened (sqlite.org/rescode.html). */
const CERTAIN_REFUSALS: readonly number[] = [5, 13, 19];

/**
 * Runs all transactions that wait in one turn of the event loop under one durable commit; none resolves before it.
 *
 * The fewer commits, the less each one pays for the sync to disk. So they wait for others as long as each turn brings some,
 * and a little longer while they are fewer than in the last commit: clients that were answered together do not all send
 * again in the same turn, and the first one would be committed alone. Where the last one was alone, the next waits for nobody.
 * When reads make turns long, nobody waits for further ones.
 *
 * One that fails is undone alone. Few write before they fail, and a savepoint costs a copy of every page that is changed:
 * so there is none at first, and when what failed has written something, all of the batch are run again with savepoints.
 *
 * A commit whose sync to disk fails is in the log but not durable: recovery after a crash may still apply it. The next
 * commit that succeeds overwrites it, so until then nothing else is run.
 *
 * @param atCommit called at the end of each commit; what it throws undoes the whole batch
 * @param monotonic milliseconds since any moment
 */
export function groupCommit(
  database: DatabaseSync,
  undo: Undo,
  atCommit: () => Promise<void>,
  monotonic: () => number,
) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const waiting: Waiting[] = [];
  let busy = false;
  let unsettled = false;
  let finishing = false;
  let lastSize = 1;
  /** How many waited a turn ago, and how many turns in a row have brought none. */
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
    /** Resolves once no commit is left whose outcome is unknown. */
    async settled(): Promise<void> {
      while (unsettled) {
        await sleep(SETTLE_RETRY_MS, undefined, { ref: false });
        if (!busy) trySettle();
      }
    },
    /** Refuses new transactions, and resolves once those that wait or run are over. */
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
    await commitTogether(waiting.splice(0, MAX_BATCH_SIZE));
    busy = waiting.length > 0;
    if (busy) gather();
  }

  async function commitTogether(batch: readonly Waiting[]): Promise<void> {
    let committing = false;
    try {
      if (unsettled) settle();
      const answers = await runAll(batch, false);
      committing = true;
      commits.traceSync(() => commit.run(), { size: batch.length, isSynchronous: true });
      for (const answer of answers) answer();
    } catch (error) {
      unsettled ||= committing && isInDoubt(error);
      const certain = error instanceof StorageError ? error : new StorageError(error);
      const reason = committing && unsettled ? new OutcomeUnknown(error) : certain;
      for (const job of batch) job.reject(reason);
      tryRollBack();
    }
  }

  /** Runs all jobs of a batch in one transaction, up to its commit, and returns what settles their promises after it. */
  async function runAll(batch: readonly Waiting[], withSavepoints: boolean): Promise<(() => void)[]> {
    begin.run();
    undo.begin(withSavepoints);
    const answers: (() => void)[] = [];
    for (const job of batch) {
      try {
        const value = await undo.nested(job.run);
        answers.push(() => job.resolve(value));
      } catch (error) {
        // A full disk or a failing one ends the transaction by itself, and with it every job of the batch.
        if (!database.isTransaction) throw error;
        answers.push(() => job.reject(error));
      }
      if (undo.needsRollback()) {
        database.exec('ROLLBACK');
        return runAll(batch, true);
      }
    }
    await atCommit();
    return answers;
  }

  function trySettle(): void {
    try {
      settle();
    } catch {
      tryRollBack(); // still failing; asked again later
    }
  }

  /** Writes something durable over the commit in doubt. A value that does not change would write nothing. */
  function settle(): void {
    const row = database.prepare('PRAGMA user_version').get() as { user_version: number };
    database.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${(row.user_version + 1) % 1_000_000}; COMMIT`);
    unsettled = false;
  }

  function tryRollBack(): void {
    try {
      // The failure may have ended the transaction by itself; and a closed database has none.
      if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
    } catch {
      // Still open: the next batch cannot begin, fails for certain, and tries again.
    }
  }
}

/** Whether a failed commit may be in the log all the same. An error that is not SQLite's own never reached it. */
function isInDoubt(error: unknown): boolean {
  const { errcode } = codesOf(error);
  return errcode !== 0 && !CERTAIN_REFUSALS.includes(errcode & 0xff);
}
