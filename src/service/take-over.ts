import { apiError } from '../contract/errors.ts';
import type { Context } from './context.ts';

/*
 * What has to be so before a caller is given a success of another token under the same idempotency key, where what it may
 * touch depends on data that may have changed since. A caller that is held to some products gets the answer of an object
 * that is not there.
 */

/** The change of a customer. Throws ApiError `customerNotFound`. */
export async function takeOverCustomer({ caller }: Context, { customerId }: { customerId: string }): Promise<void> {
  if (caller.productIds !== null) throw apiError('customerNotFound', { customerId });
}

/** The revocation of a token. Throws ApiError `tokenNotFound`. */
export async function takeOverRevocation({ caller }: Context): Promise<void> {
  if (caller.productIds !== null) throw apiError('tokenNotFound');
}

/** A new secret, of which nobody can tell by the request what it may do: nobody else gets it. */
export async function takeOverRotation(): Promise<void> {
  throw apiError('scopeMissing');
}
