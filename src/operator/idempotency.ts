import type { AccountId } from '../contract/scalars.ts';
import { newId } from '../domain/ids.ts';
import { toInstant } from '../domain/time.ts';
import { createRandom } from '../service/random.ts';
import { record } from '../service/record.ts';
import { openStore } from '../store/open.ts';
import { StartupError } from '../store/startup-error.ts';
import type { Repositories } from '../store/store.ts';

const LOCK_TIMEOUT_MS = 10_000;

/** Records that one list holds at most. */
const MAX_LIST_ROWS = 1_000;

/** The action under which {@link resolveClaim} is kept in the audit log. */
const RESOLVE = 'idempotency.resolve';

/** A claim that nobody knows the end of. */
export interface UnfinishedClaim {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly createdAt: string;
}

/** Lists the claims that are in progress, oldest first: retries under them are answered 409 until they are resolved. */
export function listUnfinished(location: string): Promise<UnfinishedClaim[]> {
  return withOwner(location, async ({ repositories, accountId }) => {
    const records = await repositories.idempotency.list(accountId, 'in_progress', MAX_LIST_ROWS);
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
  return withOwner(location, async ({ repositories, accountId }) => {
    const claim = await repositories.idempotency.find(accountId, key);
    if (claim?.state !== 'in_progress') return false;
    if (outcome === 'completed') await repositories.idempotency.complete(accountId, key);
    else await repositories.idempotency.remove(accountId, key);
    const now = toInstant(at);
    await record(repositories, {
      accountId,
      id: newId('aud', now, createRandom()(10)),
      action: RESOLVE,
      actor: by,
      subject: key,
      details: { method: claim.method, path: claim.path, outcome },
      at: now,
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
  return withOwner(location, async ({ repositories, accountId }) => {
    const entries = await repositories.audit.list(accountId, RESOLVE, MAX_LIST_ROWS);
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
  work: (owner: { repositories: Repositories; accountId: AccountId }) => Promise<T>,
): Promise<T> {
  const store = await openStore(location, LOCK_TIMEOUT_MS);
  try {
    const account = await store.repositories.accounts.oldest();
    if (account === null)
      throw new StartupError('the database holds no account yet', 'serve it once, or make a product in it');
    return await store.transaction((repositories) => work({ repositories, accountId: account.id }));
  } finally {
    await store.close();
  }
}
