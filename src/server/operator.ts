import type { AccountId } from '../contract/scalars.ts';
import { newId } from '../domain/ids.ts';
import { toInstant } from '../domain/time.ts';
import { type CopiedTable, type CopyProgress, copyDatabase } from '../store/copy.ts';
import { openDatabase } from '../store/database.ts';
import { LocalError } from '../store/local-error.ts';
import { migrate, type SchemaStatus, schemaStatus } from '../store/migrate.ts';
import { openStore } from '../store/open.ts';
import type { Rows } from '../store/store.ts';
import { createRandom } from './random.ts';

/** How long an operator's command waits for another short-lived one on the same file, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Records that one answer lists at most. */
const MOST_LISTED = 1_000;

/** The action under which {@link resolveClaim} is kept in the audit log. */
const RESOLVE = 'idempotency.resolve';

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

/** What became of a claim: its effect is there, or it is not. */
export type Outcome = 'completed' | 'abandoned';

/** How a claim is settled, by whom and when (milliseconds since 1970). */
export interface Resolution {
  readonly outcome: Outcome;
  readonly by: string;
  readonly at: number;
}

/**
 * Settles a claim that is in progress: `completed` when its effect is there (retries are then told that the answer is
 * missing), `abandoned` when it is not (a retry then runs). The decision is kept in the audit log. Answers false when
 * no such claim is in progress.
 */
export function resolveClaim(location: string, key: string, { outcome, by, at }: Resolution): Promise<boolean> {
  return withOwner(location, async ({ rows, accountId }) => {
    const record = await rows.idempotency.find(accountId, key);
    if (record?.state !== 'in_progress') return false;
    if (outcome === 'completed') await rows.idempotency.complete(accountId, key);
    else await rows.idempotency.remove(accountId, key);
    const createdAt = toInstant(at);
    await rows.audit.insert(accountId, {
      id: newId('aud', createdAt, createRandom()(10)),
      action: RESOLVE,
      actor: by,
      subject: key,
      details: { method: record.method, path: record.path, outcome },
      createdAt,
    });
    return true;
  });
}

/** A claim that an operator has settled. */
export interface ResolvedClaim {
  readonly key: string;
  readonly method: string | null;
  readonly path: string | null;
  readonly outcome: string | null;
  readonly by: string;
  readonly resolvedAt: string;
}

/** Lists the claims that were settled by {@link resolveClaim}, oldest first. */
export function listResolved(location: string): Promise<ResolvedClaim[]> {
  return withOwner(location, async ({ rows, accountId }) => {
    const entries = await rows.audit.list(accountId, RESOLVE, MOST_LISTED);
    return entries.map(({ subject, actor, details, createdAt }) => ({
      key: subject,
      method: details.method ?? null,
      path: details.path ?? null,
      outcome: details.outcome ?? null,
      by: actor,
      resolvedAt: createdAt,
    }));
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
