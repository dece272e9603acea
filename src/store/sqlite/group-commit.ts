import type { DatabaseSync } from 'node:sqlite';

interface Job {
  run(): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** So that a batch never keeps reads waiting for long. */
const MOST_IN_ONE_BATCH = 256;

/**
 * Gives all transactions that wait in one turn of the event loop one durable commit.
 *
 * Each runs in its own savepoint: one that fails is undone alone. Nobody is answered before the commit.
 */
export function groupCommit(database: DatabaseSync): <T>(work: () => Promise<T>) => Promise<T> {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const savepoint = database.prepare('SAVEPOINT job');
  const release = database.prepare('RELEASE job');
  const undo = database.prepare('ROLLBACK TO job');
  const commit = database.prepare('COMMIT');
  let waiting: Job[] = [];
  let busy = false;

  return <T>(work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ run: work, resolve: resolve as Job['resolve'], reject });
      if (!busy) {
        busy = true;
        setImmediate(drain);
      }
    });

  async function drain(): Promise<void> {
    const batch = waiting.slice(0, MOST_IN_ONE_BATCH);
    waiting = waiting.slice(MOST_IN_ONE_BATCH);
    await commitTogether(batch);
    busy = waiting.length > 0;
    if (busy) setImmediate(drain);
  }

  async function commitTogether(batch: readonly Job[]): Promise<void> {
    try {
      begin.run();
      const answers: (() => void)[] = [];
      for (const job of batch) answers.push(await attempt(job));
      commit.run();
      for (const answer of answers) answer();
    } catch (error) {
      for (const job of batch) job.reject(error);
      // The failure may have ended the transaction by itself; and a closed database has none.
      if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
    }
  }

  /** Runs one job; what it has to say waits for the commit. Throws only when the whole batch is lost. */
  async function attempt(job: Job): Promise<() => void> {
    savepoint.run();
    try {
      const value = await job.run();
      release.run();
      return () => job.resolve(value);
    } catch (error) {
      // A full disk or a failing one ends the transaction by itself, and with it every job of the batch.
      if (!database.isTransaction) throw error;
      undo.run();
      release.run();
      return () => job.reject(error);
    }
  }
}
