import { type AnyEndpoint, mutates } from '../endpoint.ts';
import type { Reason } from '../errors.ts';

/** A header of a response, with its JSON Schema: a text unless `schema` says something else. */
const header = (description: string, example: string | number, schema: object = {}) => ({
  description,
  schema: { type: 'string', ...schema, examples: [example] },
});

/** The documented headers of responses. */
export const responseHeaders = {
  'X-Request-Id': header('Names this request in the log of the service', '4b0c2a4e-0c9e-4d0a-9a55-1f5e3c2d7b11'),
  RateLimit: header('What is left: `r` requests now, the whole limit in `t` seconds', '"requests";r=5999;t=1'),
  'RateLimit-Policy': header('The limit: `q` requests in `w` seconds', '"requests";q=6000;w=60'),
  'Retry-After': header('Whole seconds to wait before the request is sent again', 1, {
    ...{ type: 'integer', minimum: 0, maximum: 86_400 },
  }),
  'Idempotency-Replayed': header('Present when an earlier request with the same key got this response', 'true', {
    const: 'true',
  }),
  'LKM-Idempotency-Key': header(
    'Which idempotency key the service saw: the first 12 hex digits of its SHA-256, or `none`',
    'none',
    { pattern: '^(none|[0-9a-f]{12})$' },
  ),
  'LKM-Budget-Remaining': header('How many keys a token with `maxIssues` may still issue, this one counted', 999, {
    ...{ type: 'integer', minimum: 0, maximum: 999_999_999 },
  }),
  'LKM-Invalid-Fields': header(
    'The fields that are missing or wrong, with commas between them; percent-encoded where they are not ASCII',
    'usesPerKey, newCustomer.email',
  ),
  'WWW-Authenticate': header('How to authenticate (RFC 6750)', 'Bearer'),
  'Cache-Control': header('How long the response may be kept', 'public, max-age=300'),
  ETag: header('Names this version of the content (RFC 9110)', '"5f2c9a"'),
  Deprecation: header('Since when the endpoint is being retired (RFC 9745)', '@1763719200', { pattern: '^@[0-9]+$' }),
  Sunset: header('When the endpoint stops working (RFC 8594)', 'Mon, 21 Dec 2026 10:00:00 GMT'),
  Link: header(
    'Where the retirement is described, and what takes the place of the endpoint (RFC 8288)',
    '</docs>; rel="deprecation"; type="text/html"',
  ),
};

type HeaderName = keyof typeof responseHeaders;

/** The headers that a success of the endpoint may carry. */
export const headersOfSuccess = (endpoint: AnyEndpoint): readonly HeaderName[] => [
  ...headersOfAny(endpoint),
  ...when(mutates(endpoint), 'LKM-Idempotency-Key'),
  ...when(mutates(endpoint), 'Idempotency-Replayed'),
  ...(endpoint.headers ?? []),
];

/** The headers that an error response with these reasons may carry. */
export function headersOfError(endpoint: AnyEndpoint, reasons: readonly Reason[]): readonly HeaderName[] {
  const has = (reason: Reason) => reasons.includes(reason);
  return [
    ...headersOfAny(endpoint),
    ...when(mutates(endpoint), 'LKM-Idempotency-Key'),
    ...when(mutates(endpoint) && [...endpoint.errors, 'invalidParams' as const].some(has), 'Idempotency-Replayed'),
    ...when(has('invalidParams'), 'LKM-Invalid-Fields'),
    ...when(has('issueLimit'), 'LKM-Budget-Remaining'),
    ...when(retryable.some(has), 'Retry-After'),
    ...when(has('invalidToken'), 'WWW-Authenticate'),
  ];
}

/** Temporary errors, whose responses have `Retry-After`. */
const retryable: readonly Reason[] = ['rateLimited', 'requestInProgress', 'unavailable'];

const headersOfAny = ({ retirement }: AnyEndpoint): readonly HeaderName[] => [
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
  ...when(retirement !== undefined, 'Deprecation', 'Sunset', 'Link'),
];

const when = (condition: boolean, ...names: readonly HeaderName[]) => (condition ? names : []);
