import { type AnyEndpoint, reasonsOf } from '../../contract/endpoint.ts';
import { ApiError, apiError, type Reason } from '../../contract/errors.ts';
import type { HttpResponse } from './messages.ts';

/** What every answer is, and what a stored one is repeated as. */
export const JSON_TYPE = 'application/json';

/** On every answer: it holds keys and customers, so nobody on the way keeps it. */
const ALWAYS = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** A JSON answer. */
export function json(status: number, body: unknown, headers?: Readonly<Record<string, string>>): HttpResponse {
  return jsonText(status, JSON.stringify(body), headers);
}

/** A JSON answer whose text is ready. */
export function jsonText(status: number, text: string, headers?: Readonly<Record<string, string>>): HttpResponse {
  return { status, headers: { ...ALWAYS, ...headers }, body: text };
}

/** A refusal: `{message, code}` and nothing else. */
export function refusal(error: ApiError, headers?: Readonly<Record<string, string>>): HttpResponse {
  return json(error.status, payloadOf(error), { ...retryAfter(error), ...headers });
}

/** What a refusal says on the wire. */
export const payloadOf = ({ message, code }: ApiError) => ({ message, code });

/** Refusals that pass by themselves say when to ask again: after one second. */
function retryAfter({ reason }: ApiError): Record<string, string> {
  return reason === 'requestInProgress' || reason === 'unavailable' ? { 'Retry-After': '1' } : {};
}

/** What a failed request answers: the refusal, if the contract lists it for this endpoint, else a server error. */
export function toApiError(endpoint: AnyEndpoint, error: unknown): ApiError {
  if (error instanceof ApiError && mayRefuseWith(endpoint, error.reason)) return error;
  return apiError('serverError', {}, { cause: error });
}

function mayRefuseWith(endpoint: AnyEndpoint, reason: Reason | null): boolean {
  return reason !== null && reasonsOf(endpoint).includes(reason);
}

/** The headers that announce an endpoint's end (RFC 9745, RFC 8594). */
export function retirementHeaders({ retirement }: AnyEndpoint): Record<string, string> {
  if (retirement === undefined) return {};
  return {
    Deprecation: `@${Math.floor(Date.parse(retirement.deprecated) / 1_000)}`,
    Sunset: new Date(retirement.sunset).toUTCString(),
  };
}
