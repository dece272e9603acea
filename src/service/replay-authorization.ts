import { apiError } from '../contract/errors.ts';
import type { Context } from './context.ts';

/*
 * Checks before a response that was stored for another token is replayed, where what the caller may touch depends on
 * data that may have changed since. A caller that is limited to some products gets the response of an object that is not
 * there.
 */

/** The change of a customer. Throws ApiError `customerNotFound`. */
export async function authorizeCustomerReplay(
  { caller }: Context,
  { customerId }: { customerId: string },
): Promise<void> {
  if (caller.productIds !== null) throw apiError('customerNotFound', { customerId });
}

/** The revocation of a token. Throws ApiError `tokenNotFound`. */
export async function authorizeRevocationReplay({ caller }: Context): Promise<void> {
  if (caller.productIds !== null) throw apiError('tokenNotFound');
}

/** A new secret, of which nobody can tell by the request what it may do: nobody else gets it. */
export async function authorizeRotationReplay(): Promise<void> {
  throw apiError('scopeMissing');
}
