import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { commits } from '../commits.ts';
import type { Connection } from '../driver.ts';
import { OutcomeUnknown, StorageError } from '../storage-error.ts';
import { attempt, codeOf, connect, type createPreparer, isFromServer } from './connection.ts';

/** How often a transaction is attempted that conflicts with others. */
const MAX_ATTEMPTS = 5;

const RETRY_AFTER_MS = 10;

/** `serialization_failure` and `deadlock_detected`: PostgreSQL asks for the transaction to be run again. */
const RUN_AGAIN: readonly unknown[] = ['40001', '40P01'];

/** Runs transactions on a pool. */
export function createTransactions(pool: Pool, prepare: ReturnType<typeof createPreparer>) {
  return async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    for (let round = 1; ; round += 1) {
      try {
        return await runOnce(pool, prepare, work);
      } catch (error) {
        if (round === MAX_ATTEMPTS || !RUN_AGAIN.includes(codeOf(causeOf(error)))) throw error;
        await sleep(RETRY_AFTER_MS * round);
      }
    }
  };
}

async function runOnce<T>(
  pool: Pool,
  prepare: ReturnType<typeof createPreparer>,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
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
    throw isRefusal(error) ? new StorageError(error) : new OutcomeUnknown(error);
  });
  if (command !== 'COMMIT') throw new StorageError(new Error(`the commit was answered with ${command}`));
}

/** Whether PostgreSQL itself says no. A lost connection says nothing, nor does a server that is shutting down. */
function isRefusal(error: unknown): boolean {
  return isFromServer(error) && !/^(08|57P)/.test(error.code);
}

const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);
