import { hash } from 'node:crypto';
import { type AnyEndpoint, reasonsOf } from '../../contract/endpoint.ts';
import { ApiError, apiError, apiErrors } from '../../contract/errors.ts';
import type { HttpRequest, HttpResponse } from './messages.ts';

/** The content type of a response, unless the reply of its endpoint names another. */
export const JSON_TYPE = 'application/json';

/** The headers of every response. Most responses hold keys or customers, so no cache may keep them. */
const ALWAYS = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

type Headers = Readonly<Record<string, string>>;

export const json = (status: number, body: unknown, headers?: Headers): HttpResponse =>
  jsonText(status, JSON.stringify(body), headers);

/** A JSON response, as a text or in pieces. */
export const jsonText = (status: number, body: HttpResponse['body'], headers?: Headers): HttpResponse => ({
  status,
  headers: { ...ALWAYS, ...headers },
  body,
});

/** A response with a cache time and an `ETag` (RFC 9111). */
export function cacheable(request: HttpRequest, response: HttpResponse, maxAgeSeconds: number): HttpResponse {
  if (typeof response.body !== 'string') return response;
  const headers = { ...response.headers, 'Cache-Control': `public, max-age=${maxAgeSeconds}` };
  return unlessKnown(request, { ...response, headers }, hash('sha256', response.body, 'base64url'));
}

/** The response with a tag for its content; 304 where the caller has that already (RFC 9110 §13.1.2). */
export function unlessKnown(request: HttpRequest, response: HttpResponse, tag: string): HttpResponse {
  const etag = `"${tag}"`;
  const headers = { ...response.headers, ETag: etag };
  const known = request.headers.get('if-none-match')?.split(',') ?? [];
  const isKnown = known.some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
  if (!isKnown) return { ...response, headers };
  const { 'Content-Type': _, 'Content-Encoding': __, ...kept }: Headers = headers;
  return { status: 304, headers: kept, body: '' };
}

export function refusal(error: ApiError, headers?: Headers): HttpResponse {
  return json(error.status, errorBody(error), { ...headersOf(error), ...headers });
}

export const errorBody = ({ message, code }: ApiError) => ({ message, code });

/** The header that names missing and wrong fields, if any are known. */
export const invalidFieldsHeader = (fields: readonly string[] = []): Headers =>
  fields.length === 0 ? {} : { 'LKM-Invalid-Fields': fields.map(encodeField).join(', ') };

/** Names that a client has chosen, such as names of metadata, may have any characters. */
const encodeField = (field: string): string => encodeURIComponent(field.toWellFormed());

/** The header with the number of keys that the token may still issue, if keys were counted. */
export const budgetHeader = (remaining: number | undefined): Headers =>
  remaining === undefined ? {} : { 'LKM-Budget-Remaining': String(remaining) };

function headersOf({ reason, fields }: ApiError): Headers {
  if (reason === 'invalidParams') return invalidFieldsHeader(fields);
  if (reason === 'issueLimit') return budgetHeader(0);
  // RFC 6750 §3, without `error`, which would tell a wrong token from a missing one.
  if (reason === 'invalidToken') return { 'WWW-Authenticate': 'Bearer realm="lkm"' };
  // Both errors are temporary.
  return reason === 'requestInProgress' || reason === 'unavailable' ? { 'Retry-After': '1' } : {};
}

/** The refusal for a failed request: the thrown ApiError if the contract lists it for the endpoint, else a server error. */
export function toApiError(endpoint: AnyEndpoint, error: unknown): ApiError {
  const isListed = error instanceof ApiError && error.reason !== null && reasonsOf(endpoint).includes(error.reason);
  return isListed ? withFieldNames(endpoint, error) : apiError('serverError', {}, { cause: error });
}

/** Names the fields in the message where the API description does not fix it. */
function withFieldNames({ fixesInvalidText = false }: AnyEndpoint, error: ApiError): ApiError {
  const { fields, message, cause } = error;
  if (fixesInvalidText || fields.length === 0 || message !== apiErrors.invalidParams.message) return error;
  return apiError('invalidParams', { fields, hint: `${message}: ${fields.join(', ')}` }, { cause });
}

/** The headers that announce the retirement of an endpoint (RFC 9745, RFC 8594, RFC 8288). */
export function retirementHeaders({ retirement }: AnyEndpoint): Record<string, string> {
  if (retirement === undefined) return {};
  return {
    Deprecation: `@${Math.floor(Date.parse(retirement.deprecated) / 1_000)}`,
    Sunset: new Date(retirement.sunset).toUTCString(),
    Link: [
      '</docs>; rel="deprecation"; type="text/html"',
      ...(retirement.successor === undefined ? [] : [`<${retirement.successor}>; rel="successor-version"`]),
    ].join(', '),
  };
}

/**
 * Waits for the first piece before the head is sent, so that a database that fails at once gets an error response. Returns a
 * body of one piece as a text.
 */
export async function startBody(pieces: AsyncIterable<string>): Promise<string | AsyncIterable<string>> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done) return '';
  const second = await iterator.next();
  return second.done ? first.value : resume([first.value, second.value], iterator);
}

async function* resume(read: readonly string[], rest: AsyncIterator<string>): AsyncGenerator<string> {
  try {
    yield* read;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
