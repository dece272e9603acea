import type { AnyEndpoint } from '../../contract/endpoint.ts';
import type { StoredResponse } from '../../store/response-sealing.ts';
import { errorBody, JSON_TYPE, toApiError } from './respond.ts';

/**
 * The response that a refusal of the use case leaves under its key. What leaves none is thrown on: failures, and that a
 * token has issued all its keys. This is a limit of the token alone, as its scopes are: it always gets the same answer,
 * and another token passes. Source: decision 0027.
 */
export function responseToStore(endpoint: AnyEndpoint, error: unknown): StoredResponse {
  const refusal = toApiError(endpoint, error);
  if (refusal.status >= 500 || refusal.reason === 'issueLimit') throw error;
  return { status: refusal.status, contentType: JSON_TYPE, body: JSON.stringify(errorBody(refusal)) };
}
