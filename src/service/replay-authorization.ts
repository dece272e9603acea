import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { TokenId } from '../contract/scalars.ts';
import { mayMint, seesSecrets } from '../domain/access.ts';
import type { Context } from './context.ts';
import { countIssue } from './keys/keys.ts';

/** A success that was stored for another token. */
export interface StoredSuccess<Payload> {
  /** The token that it was stored for; null for the owner of a database in process, and where it is not known. */
  readonly tokenId: TokenId | null;
  payload(): Payload;
}

/**
 * Whether the caller may be given a success that was stored for another token: throws ApiError when it may not. That the
 * caller may make the request was checked before; this is for what depends on the account's data, and on what is in the
 * response.
 */
export type AuthorizeReplay<E> = (
  context: Context,
  input: InputOf<E>,
  stored: StoredSuccess<PayloadOf<E>>,
) => Promise<void>;

/** The response is the same for all who may make the request. */
const anyone = async (): Promise<void> => {};

/**
 * The rule where nothing else is said: the response may show keys and addresses in full to those who may see them. It
 * goes to them, and to the others if it was stored for one who may not.
 */
export async function unlessUnmasked(
  { repositories, caller }: Context,
  _input: unknown,
  { tokenId }: StoredSuccess<unknown>,
): Promise<void> {
  if (seesSecrets(caller)) return;
  const token = tokenId === null ? null : await repositories.tokens.find(caller.accountId, tokenId);
  if (token === null || seesSecrets({ kind: token.kind, scopes: new Set(token.scopes) }))
    throw apiError('scopeMissing');
}

type Device = Parameters<AuthorizeReplay<Contract['keys']['deactivate']>>[1];

/** Only for who may move devices of the key now. */
async function moving({ repositories, caller }: Context, { productId, licenseKey }: Device): Promise<void> {
  if (caller.kind !== 'client') return;
  const license = await repositories.keys.find(caller.accountId, productId, licenseKey);
  if (license === null) throw apiError('licenseNotFound');
  if (!license.customerCanSelfReset) throw apiError('selfResetOff');
}

/** That, and masked. */
const rebinding: AuthorizeReplay<Contract['keys']['rebind']> = async (context, input, stored) => {
  await moving(context, input);
  await unlessUnmasked(context, input, stored);
};

/** A caller that is limited to some products cannot change, or no longer, what other keys belong to. */
async function customer({ caller }: Context, { customerId }: { readonly customerId: string }): Promise<void> {
  if (caller.productIds !== null) throw apiError('customerNotFound', { customerId });
}

/** The rights of the new token were filled in from those of its maker: only who may make such a token gets it. */
const newToken: AuthorizeReplay<Contract['tokens']['create']> = async ({ caller }, _, { payload }) => {
  if (!mayMint(caller, payload())) throw apiError('scopeMissing');
};

/** What a token of this id may do depends on the token: nobody else gets its new secret. */
async function nobodyElse(): Promise<void> {
  throw apiError('scopeMissing');
}

/** The token was looked up with the rights of another. */
async function revocation({ caller }: Context): Promise<void> {
  if (caller.productIds !== null) throw apiError('tokenNotFound');
}

type ReplayAuthorizations<C> = {
  readonly [R in keyof C]?: { readonly [N in keyof C[R]]?: AuthorizeReplay<C[R][N]> };
};

/** The operations with another rule than {@link unlessUnmasked}. Decision 0027. */
export const replayAuthorizations: ReplayAuthorizations<Contract> = {
  keys: {
    create: countIssue,
    import: countIssue,
    deactivate: moving,
    rebind: rebinding,
    sign: anyone,
    checkout: anyone,
    heartbeat: anyone,
    checkin: anyone,
    block: anyone,
    unblock: anyone,
    delete: anyone,
  },
  sessions: { delete: anyone },
  customers: { create: anyone, update: customer, delete: customer },
  products: { create: anyone, update: anyone, createVersion: anyone, updateVersion: anyone },
  tokens: { create: newToken, rotate: nobodyElse, revoke: revocation },
  signingKeys: { rotate: anyone },
  webhooks: {
    create: anyone,
    update: anyone,
    delete: anyone,
    test: anyone,
    rotate: anyone,
    replay: anyone,
  },
};
