import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { type ApiErrorDetail, apiError, type Reason } from '../contract/errors.ts';
import type { TokenId } from '../contract/scalars.ts';
import { type Caller, canAccessProduct, seesSecrets } from '../domain/access.ts';
import type { Context, UseCase } from './context.ts';

/** One operation: what it does, who may ask for it, and who may have the answer that another was given. Decision 0018. */
export interface Operation<E> {
  readonly perform: UseCase<E>;
  /**
   * Whether a caller may make this request: null, or why not. Depends on the caller's token and the request alone, never
   * on the account's data, and is called before anything is looked up. The scope of the endpoint was checked before.
   */
  readonly authorize: (caller: Caller, input: InputOf<E>) => Reason | null;
  /**
   * Whether the caller may be given a success that was stored for another token: throws ApiError when it may not. That the
   * caller may make the request was checked before; this is for what depends on the account's data, and on what is in the
   * response. {@link replayUnlessSecret} unless given.
   */
  readonly authorizeReplay?: (
    context: Context,
    input: InputOf<E>,
    stored: StoredSuccess<PayloadOf<E>>,
  ) => Promise<void>;
}

/** The operations of a part of the contract; without one of them it does not compile. */
export type Operations<Endpoints> = { readonly [N in keyof Endpoints]: Operation<Endpoints[N]> };

/** A success that was stored for another token. */
export interface StoredSuccess<Payload> {
  /** The token that it was stored for; null for the owner of a database in process, and where it is not known. */
  readonly tokenId: TokenId | null;
  payload(): Payload;
}

/** Nothing in the request is refused: the operation itself shows what the caller may see. */
export const anyone = (): null => null;

/** For what is of all products: a token that is limited to some of them does not get it. */
export const ofWholeAccount = ({ productIds }: Caller): Reason | null => (productIds === null ? null : 'scopeMissing');

/**
 * A product that the token is not for is refused as one that does not exist. `unnamed` decides where the request names no
 * product.
 */
export const onProduct =
  (reason: Reason, unnamed: (caller: Caller) => Reason | null = () => reason) =>
  (caller: Caller, { productId }: { readonly productId?: string | undefined }): Reason | null => {
    if (productId === undefined) return unnamed(caller);
    return canAccessProduct(caller, productId) ? null : reason;
  };

/** Who may make the request may have its response, which is the same for all of them. */
export const replayToAnyone = <A>(authorize: A) => ({ authorize, authorizeReplay: async (): Promise<void> => {} });

/**
 * The rule where nothing else is said: the response may show keys and addresses in full to those who may see them. It
 * goes to them, and to the others if it was stored for one who may not.
 */
export async function replayUnlessSecret(
  { repositories, caller }: Context,
  _input: unknown,
  { tokenId }: StoredSuccess<unknown>,
): Promise<void> {
  if (seesSecrets(caller)) return;
  const token = tokenId === null ? null : await repositories.tokens.find(caller.accountId, tokenId);
  if (token === null || seesSecrets({ kind: token.kind, scopes: new Set(token.scopes) }))
    throw apiError('scopeMissing');
}

/** What was looked up. Throws the ApiError of `reason` when there is none. */
export function orThrow<T>(value: T | null | undefined, reason: Reason, detail?: ApiErrorDetail): T {
  if (value == null) throw apiError(reason, detail);
  return value;
}
