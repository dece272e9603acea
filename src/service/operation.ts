import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { type ApiErrorDetail, apiError, type Reason } from '../contract/errors.ts';
import type { TokenId } from '../contract/scalars.ts';
import { type Caller, canAccessProduct, seesSecrets } from '../domain/access.ts';
import type { Context, UseCase } from './context.ts';

/** An operation: its use case, who may call it, and who may receive a stored response of another token. Decision 0018. */
export interface Operation<E> {
  readonly perform: UseCase<E>;
  /**
   * Why the caller may not make this request; null when it may. Depends on the caller's token and the request only, never on
   * the account's data, and runs before any look-up. The scope of the endpoint was checked before.
   */
  readonly authorize: (caller: Caller, input: InputOf<E>) => Reason | null;
  /**
   * Throws ApiError when the caller may not receive a success that was stored for another token. `authorize` has accepted the
   * request before; this check may look at the account's data and at the response. Default: {@link replayUnlessSecret}.
   */
  readonly authorizeReplay?: (
    context: Context,
    input: InputOf<E>,
    stored: StoredSuccess<PayloadOf<E>>,
  ) => Promise<void>;
}

/** The operations of a part of the contract. A missing operation does not compile. */
export type Operations<Endpoints> = { readonly [N in keyof Endpoints]: Operation<Endpoints[N]> };

/** A success that was stored for another token. */
export interface StoredSuccess<Payload> {
  /** The token that made the first request; null for the owner of a database in process, and if unknown. */
  readonly tokenId: TokenId | null;
  payload(): Payload;
}

/** No check on the request; the operation shows only objects that the caller may see. */
export const anyone = (): null => null;

/** Refuses tokens that are limited to some products: the operation concerns the whole account. */
export const ofWholeAccount = ({ productIds }: Caller): Reason | null => (productIds === null ? null : 'scopeMissing');

/** Refuses a product that the token may not access as if it did not exist. `unnamed` decides on requests without a product. */
export const onProduct =
  (reason: Reason, unnamed: (caller: Caller) => Reason | null = () => reason) =>
  (caller: Caller, { productId }: { readonly productId?: string | undefined }): Reason | null => {
    if (productId === undefined) return unnamed(caller);
    return canAccessProduct(caller, productId) ? null : reason;
  };

/** Any caller that may send the request may receive its stored response. */
export const replayToAnyone = <A>(authorize: A) => ({ authorize, authorizeReplay: async (): Promise<void> => {} });

/**
 * Replays a response to callers that see keys and addresses in full. Other callers receive it if it was stored for a token
 * that sees them masked.
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

/** The value, if there is one. Throws the ApiError of `reason` for null and undefined. */
export function orThrow<T>(value: T | null | undefined, reason: Reason, detail?: ApiErrorDetail): T {
  if (value == null) throw apiError(reason, detail);
  return value;
}
