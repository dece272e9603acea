import { type AnyEndpoint, mutates } from './endpoint.ts';
import { apiErrors, type Reason } from './errors.ts';

/** The text that an idempotency key has to match: visible ASCII, with spaces only inside. */
export const IDEMPOTENCY_KEY_PATTERN = '^[!-~]([ -~]*[!-~])?$';

/** The headers of a request that changes something; either will do. Source: API description, "Common behavior". */
export const idempotencyHeaders = ['Idempotency-Key', 'X-Idempotency-Key'] as const;

/** A header of a response, with its JSON Schema. */
export interface ResponseHeader {
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

const text = (example: string, more: object = {}) => ({ type: 'string', ...more, examples: [example] });

/** Every header that a response may carry and that means something to its reader. */
export const responseHeaders = {
  'X-Request-Id': {
    description: 'Names this request in the log of the service',
    schema: text('4b0c2a4e-0c9e-4d0a-9a55-1f5e3c2d7b11'),
  },
  RateLimit: {
    description: 'What is left of the limit: `r` requests for the next `t` seconds',
    schema: text('"requests";r=5999;t=60'),
  },
  'RateLimit-Policy': {
    description: 'The limit: `q` requests in `w` seconds',
    schema: text('"requests";q=6000;w=60'),
  },
  'Retry-After': {
    description: 'Whole seconds to wait before the request is sent again',
    schema: { type: 'integer', minimum: 0, maximum: 86_400, examples: [1] },
  },
  'Idempotency-Replayed': {
    description: 'Present when this is the response that an earlier request with the same idempotency key was given',
    schema: { type: 'string', const: 'true' },
  },
  'WWW-Authenticate': { description: 'How to authenticate (RFC 6750)', schema: text('Bearer') },
  'Cache-Control': { description: 'How long the response may be kept', schema: text('public, max-age=300') },
  ETag: { description: 'Names this version of the content (RFC 9110)', schema: text('"5f2c9a"') },
  Deprecation: {
    description: 'Since when the endpoint is being retired (RFC 9745)',
    schema: text('@1763719200', { pattern: '^@[0-9]+$' }),
  },
  Sunset: {
    description: 'When the endpoint stops working (RFC 8594)',
    schema: text('Mon, 21 Dec 2026 10:00:00 GMT'),
  },
} as const satisfies Record<string, ResponseHeader>;

export type ResponseHeaderName = keyof typeof responseHeaders;

/** The headers that a success of the endpoint may carry. */
export function headersOfSuccess(endpoint: AnyEndpoint): readonly ResponseHeaderName[] {
  return [
    ...headersOfAny(endpoint),
    ...(mutates(endpoint) ? (['Idempotency-Replayed'] as const) : []),
    ...(endpoint.headers ?? []),
  ];
}

/** The headers that an error response with these reasons may carry. */
export function headersOfError(endpoint: AnyEndpoint, reasons: readonly Reason[]): readonly ResponseHeaderName[] {
  const own: readonly Reason[] = endpoint.errors;
  const isStored = mutates(endpoint) && reasons.some((reason) => own.includes(reason) || reason === 'invalidParams');
  return [
    ...headersOfAny(endpoint),
    ...(isStored ? (['Idempotency-Replayed'] as const) : []),
    ...(reasons.some((reason) => retryable.includes(reason)) ? (['Retry-After'] as const) : []),
    ...(reasons.some((reason) => apiErrors[reason].status === 401) ? (['WWW-Authenticate'] as const) : []),
  ];
}

/** Errors that pass by themselves, so that their responses say when to try again. */
const retryable: readonly Reason[] = ['rateLimited', 'requestInProgress', 'unavailable'];

function headersOfAny({ scope, retirement }: AnyEndpoint): readonly ResponseHeaderName[] {
  return [
    'X-Request-Id',
    ...(scope === 'public' ? [] : (['RateLimit', 'RateLimit-Policy'] as const)),
    ...(retirement === undefined ? [] : (['Deprecation', 'Sunset'] as const)),
  ];
}
