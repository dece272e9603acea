import type { PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { AccountId, Instant } from '../contract/scalars.ts';
import type { signingKeys } from '../contract/signing-keys.ts';
import { describePublicKey, toJwk } from '../domain/license-file/sign.ts';
import { changeInstant } from '../domain/time.ts';
import type { Repositories } from '../store/store.ts';
import type { PublicSigningKey } from '../store/tables/signing-keys.ts';
import type { Context, KeyPair, UseCase } from './context.ts';
import { readAll } from './lists.ts';
import { anyone, type Operations, ofWholeAccount, sameForAll } from './operation.ts';

type SigningKeys = typeof signingKeys;

/** Lists the signing keys of the account by their public halves, newest first. */
const listSigningKeys: UseCase<SigningKeys['list']> = async ({ repositories, caller }, input) => {
  const keys = (await repositories.signingKeys.list(caller.accountId)).map((key, i) => showKey(key, i === 0));
  return readAll(input, keys);
};

/** Makes a new key, which signs from now on. */
async function rotateSigningKey(context: Context): Promise<PayloadOf<SigningKeys['rotate']>> {
  const { repositories, caller, now } = context;
  const [current] = await repositories.signingKeys.list(caller.accountId);
  // The newest one signs, also when the clock was set back since the last one was made.
  const createdAt = current === undefined ? now : changeInstant(now, current.createdAt);
  const key = await addSigningKey(repositories, caller.accountId, context.newKeyPair(), createdAt);
  context.record({
    type: 'signing_key.rotated',
    resource: { type: 'signing_key', id: key.kid },
    data: { kid: key.kid, previousKid: current?.kid ?? null },
  });
  return key;
}

/** Adds a signing key to an account, and shows its public half. */
export async function addSigningKey(
  { signingKeys }: Pick<Repositories, 'signingKeys'>,
  accountId: AccountId,
  pair: KeyPair,
  createdAt: Instant,
): Promise<PayloadOf<SigningKeys['rotate']>> {
  const shown = showKey({ publicPem: pair.publicPem, createdAt }, true);
  await signingKeys.insert({ accountId, kid: shown.kid, ...pair, createdAt });
  return shown;
}

/** The public keys of one account, by default of the oldest. */
const listPublicKeys: UseCase<SigningKeys['jwks']> = async ({ repositories }, { account }) => {
  const accountId = await findAccount(repositories, account);
  return { keys: (await repositories.signingKeys.list(accountId)).map(({ publicPem }) => toJwk(publicPem)) };
};

/** The account that a public endpoint is asked about: the one named, else the oldest. Throws ApiError `accountNotFound`. */
export async function findAccount(
  { accounts, signingKeys }: Repositories,
  account: AccountId | undefined,
): Promise<AccountId> {
  const accountId = account ?? (await accounts.oldest())?.id;
  // Every account has a signing key.
  if (accountId === undefined || (await signingKeys.current(accountId)) === null) throw apiError('accountNotFound');
  return accountId;
}

const showKey = ({ publicPem, createdAt }: Pick<PublicSigningKey, 'publicPem' | 'createdAt'>, current: boolean) => ({
  ...describePublicKey(publicPem),
  current,
  publicKey: publicPem,
  jwk: toJwk(publicPem),
  createdAt,
});

/** The operations on signing keys. */
export const signingKeyOperations: Operations<typeof signingKeys> = {
  list: { perform: listSigningKeys, authorize: anyone },
  rotate: {
    perform: rotateSigningKey,
    // The key is that of the account, whatever products the token is for.
    authorize: (caller) => (caller.kind === 'admin' ? ofWholeAccount(caller) : 'scopeMissing'),
    authorizeReplay: sameForAll,
  },
  jwks: { perform: listPublicKeys, authorize: anyone },
};
