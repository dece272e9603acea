import type { JsonValue } from '../contract/events.ts';
import type { AccountId } from '../contract/scalars.ts';
import { toInstant } from '../domain/time.ts';
import { createRandom } from '../service/context.ts';
import { readAuditRow } from '../service/numbering.ts';
import { createRecorder, withoutRequest } from '../service/record.ts';
import { LOCK_TIMEOUT_MS } from '../store/database.ts';
import { StartupError } from '../store/errors.ts';
import { deriveKey } from '../store/response-sealing.ts';
import { openStore, type Repositories } from '../store/store.ts';

/** Records that one list holds at most. */
const MAX_LIST_ROWS = 1_000;

/** The operation under which {@link resolveRequest} is kept in the audit log. */
const RESOLVE = 'idempotency.resolve';

/** The beginning of a hash that is long enough to name a request. */
const hashPrefix = /^[0-9a-f]{8,64}$/i;

/** Lists the requests that are in progress, oldest first, by the hash of their idempotency key, which is not stored. */
export const listUnfinishedRequests = (location: string) =>
  withOwner(location, async ({ repositories, accountId }) => {
    const records = await repositories.idempotency.list(accountId, 'in_progress', MAX_LIST_ROWS);
    return records.map(({ keyHash, method, path, createdAt }) => ({ hash: keyHash, method, path, createdAt }));
  });

/**
 * Resolves a request that is in progress: as `completed`, its retries are refused because the response is missing; as
 * `abandoned`, its next retry runs. The decision is kept in the audit log.
 *
 * @param name the idempotency key, its hash, or at least the first 8 digits of the hash
 * @param decision made by whom, and when (milliseconds since 1970)
 * @returns the hashes of the requests that `name` fits. Only when there is exactly one is it resolved.
 */
export function resolveRequest(
  location: string,
  name: string,
  { resolution, by, at }: { readonly resolution: 'completed' | 'abandoned'; readonly by: string; readonly at: number },
): Promise<readonly string[]> {
  return withOwner(location, async ({ repositories, accountId }) => {
    const records = await findUnfinished(repositories, accountId, name);
    const [found, ...others] = records;
    if (found !== undefined && others.length === 0) {
      const { keyHash, method, path } = found;
      if (resolution === 'completed') await repositories.idempotency.complete(accountId, keyHash);
      else await repositories.idempotency.remove(accountId, keyHash);
      const resource = { type: 'idempotency_record', id: keyHash } as const;
      await createRecorder(createRandom())(repositories, {
        accountId,
        at: toInstant(at),
        ...withoutRequest('operator', by),
        operation: RESOLVE,
        events: [{ resource, data: { method, path, outcome: resolution } }],
      });
    }
    return records.map(({ keyHash }) => keyHash);
  });
}

/** The requests in progress that a key, a hash or the beginning of a hash names. */
async function findUnfinished({ idempotency }: Repositories, accountId: AccountId, name: string) {
  const { hash } = deriveKey(accountId, name);
  const prefixes = hashPrefix.test(name) ? [hash, name.toLowerCase()] : [hash];
  const found = await Array.fromAsync(prefixes, (prefix) =>
    idempotency.list(accountId, 'in_progress', MAX_LIST_ROWS, prefix),
  );
  return found.flat();
}

/** Lists the requests that {@link resolveRequest} has resolved, oldest first: what became of each, and who said so. */
export const listResolvedRequests = (location: string) =>
  withOwner(location, async ({ repositories, accountId }) => {
    const numbered = (await repositories.audit.listResolutions(accountId, MAX_LIST_ROWS)).map(readAuditRow);
    const staged = (await repositories.outbox.list(MAX_LIST_ROWS))
      .filter((row) => row.accountId === accountId)
      .map(({ at, entry }) => ({ ...entry, at }));
    return [...numbered, ...staged]
      .filter(({ operation }) => operation === RESOLVE)
      .map(({ at, resource, actor, details: { method, path, outcome } }) => ({
        hash: resource?.id ?? '',
        ...{ method: textOf(method), path: textOf(path), outcome: textOf(outcome) },
        ...{ by: actor.id, resolvedAt: at },
      }));
  });

const textOf = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);

type Owner = { readonly repositories: Repositories; readonly accountId: AccountId };

async function withOwner<T>(location: string, work: (owner: Owner) => Promise<T>): Promise<T> {
  const store = await openStore(location, { waitMs: LOCK_TIMEOUT_MS, create: false });
  try {
    const account = await store.repositories.accounts.oldest();
    if (account === null)
      throw new StartupError('the database holds no account yet', 'serve it once, or make a product in it');
    return await store.transaction((repositories) => work({ repositories, accountId: account.id }));
  } finally {
    await store.close();
  }
}
