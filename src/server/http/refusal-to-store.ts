import type { AnyEndpoint } from '../../contract/endpoint.ts';
import type { Reason } from '../../contract/errors.ts';
import type { Caller } from '../../domain/access.ts';
import type { StoredResponse } from '../../store/response-sealing.ts';
import { errorBody, JSON_TYPE, toApiError } from './respond.ts';

/** Refusals that another token of the account might not get for the same request. They are not stored. */
const OF_TOKENS: readonly (Reason | null)[] = ['scopeMissing', 'issueLimit', 'selfResetOff', 'rebindLimit'];

/** The same for tokens that are limited to some products, where others find something. */
const HIDING: readonly (Reason | null)[] = ['customerNotFound', 'emailTaken', 'tokenNotFound'];

/** The response that a refusal of the use case leaves under its key. What leaves none is thrown on. */
export function responseToStore(endpoint: AnyEndpoint, { productIds }: Caller, error: unknown): StoredResponse {
  const refusal = toApiError(endpoint, error);
  const { reason, status } = refusal;
  if (status >= 500 || OF_TOKENS.includes(reason) || (productIds !== null && HIDING.includes(reason))) throw error;
  return { status, contentType: JSON_TYPE, body: JSON.stringify(errorBody(refusal)) };
}
