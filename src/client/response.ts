import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type AnyEndpoint, type Endpoint, reasonsOf } from '../contract/endpoint.ts';
import { type ApiError, addressReasons, type CallTrace, readApiError } from '../contract/errors.ts';
import type { RawResponse } from './attempt.ts';
import { ProtocolError } from './errors.ts';
import type { ResponseHeaders } from './network.ts';
import type { DeprecationNotice } from './options.ts';

const MIB = 1024 * 1024;

/** The longest response that is read, in bytes. */
const MAX_RESPONSE_BYTES = 16 * MIB;

/** The longest list that is read in one response, in bytes; V8 has no string longer than 512 MiB. */
const MAX_LIST_BYTES = 500 * MIB;

type ReplyOf = Pick<Endpoint, 'reply'>;

/** The longest response to read from an endpoint: lists grow with the account, other replies do not. */
export const maxResponseBytes = ({ reply }: ReplyOf): number =>
  fieldsOf(reply).data instanceof z.ZodArray ? MAX_LIST_BYTES : MAX_RESPONSE_BYTES;

/** The payload of a response, or its error; `now` is in milliseconds since 1970. */
export function readReply(
  endpoint: AnyEndpoint,
  response: RawResponse,
  call: CallTrace,
  now: number,
): { readonly payload: unknown } | ApiError | ProtocolError {
  const { reply } = endpoint;
  const { status, headers, text } = response;
  const retryAfterMs = readRetryAfter(headers, now);
  const invalid = (message: string, isForeign: boolean, cause?: unknown) => {
    // The response says nothing about earlier attempts.
    const foreign = isForeign && !(call.idempotencyKey !== null && call.mayHaveRunBefore);
    return new ProtocolError(`the service answered ${message}`, { call, status, foreign, retryAfterMs }, { cause });
  };
  if (isRedirect(status)) return invalid(`with ${describeRedirect(response)}; check the base URL`, true);
  if (text === null) return invalid(`${status} with more than ${maxResponseBytes(endpoint)} bytes`, false);
  const isText = reply.contentType === 'application/jwt' && isSuccess(status);
  const json = isText ? text : parseJson(text);
  const foreign = isForeign(reply, response, json);
  if (json === undefined) return invalid(`${status} with something that is not JSON${guessAt(status)}`, foreign);
  if (!isSuccess(status)) {
    const { data: error } = ErrorPayload.safeParse(json);
    if (error === undefined) return invalid(`${status} without a message and a code`, foreign);
    const fields = readInvalidFields(headers);
    const reasons = [...reasonsOf(endpoint), ...addressReasons];
    const refusal = readApiError({ ...error, status, retryAfterMs, fields }, reasons, call);
    if (!isUnknownRoute(refusal)) return refusal;
    return invalid(`${status} (${error.message}): it has no ${call.operation}`, true);
  }
  try {
    return { payload: reply.unwrap(json) };
  } catch (cause) {
    return invalid(`${status} in a shape outside its contract${firstIssue(cause)}`, foreign, cause);
  }
}

/** Whether an error means an unknown path, not a missing key or customer. */
const isUnknownRoute = ({ status, code, reason }: ApiError): boolean =>
  (status === 404 || status === 405) && (reason === null ? code === status : addressReasons.includes(reason));

/** The statuses of a proxy that cannot reach the service. */
const guessAt = (status: number): string =>
  status >= 502 && status <= 504 ? ', as a proxy does that cannot reach the service' : '';

/** Whether an invalid response shows that no lkm service has handled the request: the table in decision 0018. */
function isForeign(reply: ReplyOf['reply'], { status, headers, text }: RawResponse, json: unknown): boolean {
  if (!isSuccess(status)) return status >= 400 && status < 500 && status !== 408 && status !== 499;
  if (reply.contentType === 'application/jwt') return !reply.schema.safeParse(json).success;
  if (json !== undefined) return !hasEnvelope(reply, json);
  const isSentAsJson = /[/+]json\b/i.test(headers.get('content-type') ?? '') || /^\s*[{[]/.test(text ?? '');
  // An empty body may be the answer of the service, whose text was lost on the way.
  return !isSentAsJson && text !== '';
}

/** Whether a body has the form of a reply: an integer `code`, or a field of the reply if its contract has no code. */
function hasEnvelope(reply: ReplyOf['reply'], json: unknown): boolean {
  if (typeof json !== 'object' || json === null) return false;
  if ('code' in json) return Number.isInteger(json.code);
  const { code, ...fields } = fieldsOf(reply);
  const mayLackCode = code === undefined || z.safeParse(code, undefined).success;
  return mayLackCode && Object.keys(fields).some((name) => name in json);
}

const fieldsOf = ({ schema }: ReplyOf['reply']): z.ZodRawShape => (schema instanceof z.ZodObject ? schema.shape : {});

const isSuccess = (status: number) => status >= 200 && status < 300;

/** A browser reports a redirect that `fetch` did not follow as status 0. */
const isRedirect = (status: number) => status === 0 || (status >= 300 && status < 400);

/** Without the query, which may repeat a licence key. */
function describeRedirect({ headers }: RawResponse): string {
  const location = headers.get('location')?.replace(/[?#].*$/, '');
  return location === undefined ? 'a redirect that names no address' : `a redirect to ${location}`;
}

/** The parser's error is dropped: it quotes the text, which may hold a licence key. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const ErrorPayload = z.object({ message: z.string(), code: z.int() });

function firstIssue(cause: unknown): string {
  const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
  if (issue === undefined) return '';
  const place = issue.path.map(String).join('.');
  return place === '' ? `: ${issue.message}` : `: ${place}: ${issue.message}`;
}

/** The delay of a `Retry-After` in milliseconds, or null. A date counts from the `Date` of the response, not from the local clock. */
function readRetryAfter(headers: ResponseHeaders, now: number): number | null {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const due = readHttpDate(text);
  if (due === null) return null;
  return Math.max(0, due - (readHttpDate(headers.get('date') ?? '') ?? now));
}

/** The fields that `LKM-Invalid-Fields` names. */
function readInvalidFields(headers: ResponseHeaders): readonly string[] {
  const names = headers.get('lkm-invalid-fields')?.split(',') ?? [];
  return names.map((name) => decodeField(name.trim())).filter((name) => name !== '');
}

/** Decodes a name; returns a malformed one unchanged. */
function decodeField(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Milliseconds since 1970. `Date.parse` alone accepts much that is not an HTTP date. */
function readHttpDate(text: string): number | null {
  const date = new Date(text);
  return date.toUTCString() === text ? date.getTime() : null;
}

/** Whether the response is the stored response of an earlier request. Source: decision 0018. */
export const isReplayed = (headers: ResponseHeaders): boolean =>
  headers.get('idempotency-replayed')?.trim().toLowerCase() === 'true';

/**
 * Whether the service received another idempotency key than `key`, or no key, since a proxy drops the header. False for a
 * service that does not report the key, and for a read, whose `key` is null.
 */
export function isKeyLost(headers: ResponseHeaders, key: string | null): boolean {
  if (key === null) return false;
  const seen = headers.get('lkm-idempotency-key');
  return seen !== null && seen !== createHash('sha256').update(key).digest('hex').slice(0, 12);
}

/** Returns a function that reads response headers and reports each retired operation to `onNotice` once. */
export function deprecationReporter(
  onNotice: (notice: DeprecationNotice) => void,
): (operation: string, headers: ResponseHeaders) => void {
  const reported = new Set<string>();
  return (operation, headers) => {
    const deprecated = headers.get('deprecation');
    const sunset = headers.get('sunset');
    if ((deprecated === null && sunset === null) || reported.has(operation)) return;
    reported.add(operation);
    onNotice({ operation, deprecated, sunset });
  };
}
