import type { AccountId, Instant } from '../contract/scalars.ts';
import type { SigningKey, signingKeys } from '../contract/signing-keys.ts';
import { describePublicKey, toJwk } from '../domain/license-file/sign.ts';
import { changeInstant } from '../domain/time.ts';
import type { Repositories } from '../store/store.ts';
import type { PublicSigningKey } from '../store/tables/signing-keys.ts';
import type { KeyPair } from './context.ts';
import { readAll } from './lists.ts';
import { anyone, type Operations, ofWholeAccount, orThrow, replayToAnyone } from './operation.ts';
import { eventOf } from './record.ts';

export const signingKeyOperations: Operations<typeof signingKeys> = {
  list: {
    authorize: anyone,
    async perform({ repositories, caller }, input) {
      const keys = await repositories.signingKeys.list(caller.accountId);
      const shown = keys.map((key, i) => showKey(key, i === 0));
      return readAll(input, shown);
    },
  },

  rotate: {
    // The key belongs to the account, not to a product.
    ...replayToAnyone((caller) => (caller.kind === 'admin' ? ofWholeAccount(caller) : 'scopeMissing')),
    async perform(context) {
      const { repositories, caller, now } = context;
      const [current] = await repositories.signingKeys.list(caller.accountId);
      // The newest key signs: a clock that was set back must not date the new key before the last key.
      const createdAt = current === undefined ? now : changeInstant(now, current.createdAt);
      const key = await addSigningKey(repositories, caller.accountId, context.newKeyPair(), createdAt);
      const data = { kid: key.kid, previousKid: current?.kid ?? null };
      context.record(eventOf('signing_key.rotated', 'signing_key', key.kid, data));
      return key;
    },
  },

  jwks: {
    authorize: anyone,
    async perform({ repositories }, { account }) {
      const keys = await repositories.signingKeys.list(await findAccount(repositories, account));
      return { keys: keys.map(({ publicPem }) => toJwk(publicPem)) };
    },
  },
};

export async function addSigningKey(
  { signingKeys }: Pick<Repositories, 'signingKeys'>,
  accountId: AccountId,
  pair: KeyPair,
  createdAt: Instant,
): Promise<SigningKey> {
  const shown = showKey({ publicPem: pair.publicPem, createdAt }, true);
  await signingKeys.insert({ accountId, kid: shown.kid, ...pair, createdAt });
  return shown;
}

/** The account of a public request: the named account, else the oldest. Throws ApiError `accountNotFound`. */
export async function findAccount(
  { accounts, signingKeys }: Repositories,
  account: AccountId | undefined,
): Promise<AccountId> {
  const accountId = orThrow(account ?? (await accounts.oldest())?.id, 'accountNotFound');
  // Every account has a signing key.
  orThrow(await signingKeys.current(accountId), 'accountNotFound');
  return accountId;
}

const showKey = (
  { publicPem, createdAt }: Pick<PublicSigningKey, 'publicPem' | 'createdAt'>,
  current: boolean,
): SigningKey => ({ ...describePublicKey(publicPem), current, publicKey: publicPem, createdAt });
