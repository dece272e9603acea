import type { AccountId } from '../contract/scalars.ts';
import { type CopiedTable, type CopyProgress, copyDatabase } from '../store/copy.ts';
import { openDatabase } from '../store/database.ts';
import { LocalError } from '../store/local-error.ts';
import { migrate, type SchemaStatus, schemaStatus } from '../store/migrate.ts';
import { openStore } from '../store/open.ts';
import type { Rows } from '../store/store.ts';

/** How long an operator's command waits for another short-lived one on the same file, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Records that one answer lists at most. */
const MOST_LISTED = 1_000;

/** Shows how far the schema of a database has come, and changes nothing. */
export async function databaseStatus(location: string): Promise<{ engine: string } & SchemaStatus> {
  const database = await openDatabase(location, PATIENCE_MS);
  try {
    return { engine: database.engine, ...(await schemaStatus(database.kysely)) };
  } finally {
    await database.close();
  }
}

/** Brings the schema of a database up to date; answers the migrations that it ran. */
export async function migrateDatabase(location: string): Promise<readonly string[]> {
  const database = await openDatabase(location, PATIENCE_MS);
  try {
    return await migrate(database.kysely);
  } finally {
    await database.close();
  }
}

/** Moves an instance to another, empty database, on whatever engine. */
export async function copyInstance(
  from: string,
  to: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopiedTable[]> {
  const source = await openDatabase(from, PATIENCE_MS);
  try {
    const target = await openDatabase(to, PATIENCE_MS);
    try {
      await migrate(source.kysely);
      await migrate(target.kysely);
      return await copyDatabase(source.kysely, target.kysely, onProgress);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** A claim that nobody knows the end of. */
export interface UnfinishedClaim {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly createdAt: string;
}

/** Lists the claims that are in progress, oldest first: retries under them are answered 409 until they are resolved. */
export function listUnfinished(location: string): Promise<UnfinishedClaim[]> {
  return withOwner(location, async ({ rows, accountId }) => {
    const records = await rows.idempotency.list(accountId, 'in_progress', MOST_LISTED);
    return records.map(({ key, method, path, createdAt }) => ({ key, method, path, createdAt }));
  });
}

/**
 * Settles a claim that is in progress: `completed` when its effect is there (retries are then told that the answer is
 * missing), `abandoned` when it is not (a retry then runs). Answers false when no such claim is in progress.
 */
export function resolveClaim(location: string, key: string, outcome: 'completed' | 'abandoned'): Promise<boolean> {
  return withOwner(location, async ({ rows, accountId }) => {
    const record = await rows.idempotency.find(accountId, key);
    if (record?.state !== 'in_progress') return false;
    if (outcome === 'completed') await rows.idempotency.complete(accountId, key);
    else await rows.idempotency.remove(accountId, key);
    return true;
  });
}

async function withOwner<T>(
  location: string,
  work: (owner: { rows: Rows; accountId: AccountId }) => Promise<T>,
): Promise<T> {
  const store = await openStore(location, PATIENCE_MS);
  try {
    const account = await store.rows.accounts.oldest();
    if (account === null)
      throw new LocalError('the database holds no account yet', 'serve it once, or make a product in it');
    return await store.transaction((rows) => work({ rows, accountId: account.id }));
  } finally {
    await store.close();
  }
}
