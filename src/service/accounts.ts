import { AccountId } from '../contract/scalars.ts';
import { scopesOf, unrestricted } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import type { Repositories, Store } from '../store/store.ts';
import type { Context } from './context.ts';
import { addToken, tokenEvent } from './new-tokens.ts';
import { type Recorder, withoutRequest } from './record.ts';
import { addSigningKey } from './signing-keys.ts';

const DEFAULT_ACCOUNT = 'default';

type Parts = Pick<Context, 'now' | 'random'> & { readonly record: Recorder };

/** Returns the account that owns the database. In a new database it makes the account and its first signing key. */
export async function openAccount(
  store: Store,
  { newKeyPair, ...parts }: Parts & Pick<Context, 'newKeyPair'>,
): Promise<{ accountId: AccountId; created: boolean }> {
  const known = await store.repositories.accounts.oldest();
  if (known !== null) return { accountId: known.id, created: false };

  const { now, random } = parts;
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
    await parts.record(repositories, {
      ...withoutRequest('owner', accountId),
      accountId,
      at: now,
      operation: 'accounts.create',
      events: [{ resource: { type: 'account', id: accountId }, data: { kid } }],
    });
    return { accountId, created: true };
  });
}

/** Creates the admin token of a new account, and returns its secret, which is stored nowhere. */
export async function createFirstToken(
  repositories: Repositories,
  { accountId, ...parts }: Parts & { readonly accountId: AccountId },
): Promise<string> {
  const { token: secret, ...token } = await addToken({ repositories, ...parts }, accountId, {
    name: 'first admin token',
    kind: 'admin',
    scopes: [...scopesOf('admin', [])],
    // It never expires: nobody could make another token over the API.
    ...unrestricted,
  });
  await parts.record(repositories, {
    ...withoutRequest('owner', accountId),
    accountId,
    at: parts.now,
    operation: 'tokens.create',
    events: [tokenEvent('token.created', token)],
  });
  return secret;
}
