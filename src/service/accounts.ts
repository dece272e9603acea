import { AccountId, type Instant } from '../contract/scalars.ts';
import { newId } from '../domain/ids.ts';
import type { Store } from '../store/store.ts';
import type { KeyPair } from './context.ts';
import { actorOf, type Recorder } from './record.ts';
import { addSigningKey } from './signing-keys.ts';

/** The name of the account that a new database begins with. */
const DEFAULT_ACCOUNT = 'default';

/** Returns the account that owns the database. In a new database it makes the account and its first signing key. */
export async function openAccount(
  store: Store,
  { now, random, newKeyPair, record }: NewAccountParts,
): Promise<{ accountId: AccountId; created: boolean }> {
  const known = await store.repositories.accounts.oldest();
  if (known !== null) return { accountId: known.id, created: false };

  const accountId = AccountId.parse(newId('acc', now, random(10)));
  const pair = newKeyPair();
  return store.transaction(async (repositories) => {
    if (!(await repositories.accounts.insert({ id: accountId, name: DEFAULT_ACCOUNT, createdAt: now }))) {
      // Another replica made it since we looked.
      const made = await repositories.accounts.oldest();
      if (made === null) throw new Error('the account that was just made is gone');
      return { accountId: made.id, created: false };
    }
    const { kid } = await addSigningKey(repositories, accountId, pair, now);
    await record(repositories, {
      accountId,
      at: now,
      actor: actorOf({ accountId, tokenId: null }),
      address: null,
      door: 'db',
      requestId: null,
      operation: 'accounts.create',
      events: [{ resource: { type: 'account', id: accountId }, data: { kid } }],
    });
    return { accountId, created: true };
  });
}

interface NewAccountParts {
  readonly now: Instant;
  readonly record: Recorder;
  random(length: number): Uint8Array;
  newKeyPair(): KeyPair;
}
