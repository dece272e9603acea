import { z } from 'zod';
import type { Endpoint } from '../contract/endpoint.ts';
import type { NetworkFailure, RawResponse } from './attempt.ts';
import type { ResponseHeaders } from './network.ts';
import type { DeprecationNotice } from './options.ts';

/** How one attempt ended. */
export type AttemptResult = Success | FailedAttempt;

/** An attempt without a payload. */
export type FailedAttempt = ErrorResponse | InvalidResponse | NetworkFailure;

/** The payload without its envelope. */
interface Success {
  readonly kind: 'success';
  readonly payload: unknown;
}

/** An error of the service: `{message, code}`. */
export interface ErrorResponse {
  readonly kind: 'error-response';
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly retryAfterMs: number | null;
  /** The fields that are missing or wrong, as far as the service names them. */
  readonly fields: readonly string[];
}

/** A response outside the contract. */
export interface InvalidResponse {
  readonly kind: 'invalid-response';
  readonly status: number;
  /** Completes the sentence "the service …". */
  readonly message: string;
  readonly retryAfterMs: number | null;
  /** Whether no lkm service has handled the request; {@link isForeign} says when. */
  readonly foreign: boolean;
  readonly cause?: unknown;
}

const MIB = 1024 * 1024;

/** The longest response that is read, in bytes. */
const MAX_RESPONSE_BYTES = 16 * MIB;

/** The longest list that is read in one response, in bytes; V8 has no string longer than 512 MiB. */
const MAX_LIST_BYTES = 500 * MIB;

type ReplyOf = Pick<Endpoint, 'reply'>;

/** The longest response to read from an endpoint: lists grow with the account, other replies do not. */
export const maxResponseBytes = ({ reply }: ReplyOf): number =>
  fieldsOf(reply).data instanceof z.ZodArray ? MAX_LIST_BYTES : MAX_RESPONSE_BYTES;

/** Checks a response against the endpoint's contract; `now` is in milliseconds since 1970. */
export function readResult({ reply }: ReplyOf, response: RawResponse, now: number): AttemptResult {
  const { status, headers, text } = response;
  const retryAfterMs = readRetryAfter(headers, now);
  const invalid = (message: string, foreign: boolean, cause?: unknown): InvalidResponse => {
    return { kind: 'invalid-response', status, message, retryAfterMs, foreign, cause };
  };
  if (isRedirect(status)) return invalid(`answered with ${describeRedirect(response)}; check the base URL`, true);
  if (text === null) return invalid(`answered ${status} with more than ${maxResponseBytes({ reply })} bytes`, false);
  const isText = reply.contentType === 'application/jwt' && isSuccess(status);
  const json = isText ? text : parseJson(text);
  const foreign = isForeign(reply, response, json);
  if (json === undefined)
    return invalid(`answered ${status} with something that is not JSON${guessAt(status)}`, foreign);
  if (!isSuccess(status)) {
    if (!isErrorPayload(json)) return invalid(`answered ${status} without a message and a code`, foreign);
    const { code, message } = json;
    return { kind: 'error-response', status, code, message, retryAfterMs, fields: readInvalidFields(headers) };
  }
  try {
    return { kind: 'success', payload: reply.unwrap(json) };
  } catch (cause) {
    return invalid(`answered ${status} in a shape outside its contract${firstIssue(cause)}`, foreign, cause);
  }
}

/** Without the service, a proxy answers with a page of its own. */
const guessAt = (status: number): string =>
  status >= 502 && status <= 504 ? ', as a proxy does that cannot reach the service' : '';

/**
 * Whether an invalid response shows that no lkm service has handled the request (decision 0032):
 *
 * | status | body | foreign |
 * |---|---|---|
 * | 3xx | any | yes |
 * | 2xx | not JSON, and not sent as JSON | yes |
 * | 2xx | JSON without the reply's envelope | yes |
 * | 2xx | JSON with the envelope in a wrong shape; JSON that is cut off; too long | no |
 * | 4xx but 408 and 499 | anything but `{message, code}` | yes |
 * | 408, 499, 5xx | anything but `{message, code}` | no: a proxy may send it after the service ran the request |
 */
function isForeign(reply: ReplyOf['reply'], { status, headers, text }: RawResponse, json: unknown): boolean {
  if (!isSuccess(status)) return status >= 400 && status < 500 && status !== 408 && status !== 499;
  if (reply.contentType === 'application/jwt') return !reply.schema.safeParse(json).success;
  if (json !== undefined) return !hasEnvelope(reply, json);
  const isSentAsJson = /[/+]json\b/i.test(headers.get('content-type') ?? '') || /^\s*[{[]/.test(text ?? '');
  return !isSentAsJson;
}

/** Every reply has an integer `code`, but for those whose contract has none: they have one of its fields. */
function hasEnvelope(reply: ReplyOf['reply'], json: unknown): boolean {
  if (typeof json !== 'object' || json === null) return false;
  if ('code' in json) return Number.isInteger(json.code);
  const fields = Object.keys(fieldsOf(reply));
  return !fields.includes('code') && fields.some((name) => name in json);
}

const fieldsOf = ({ schema }: ReplyOf['reply']): z.ZodRawShape => (schema instanceof z.ZodObject ? schema.shape : {});

const isSuccess = (status: number) => status >= 200 && status < 300;

/** A browser's `fetch` shows a redirect that it did not follow as 0. */
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

function isErrorPayload(json: unknown): json is { readonly message: string; readonly code: number } {
  if (typeof json !== 'object' || json === null) return false;
  return 'message' in json && typeof json.message === 'string' && 'code' in json && Number.isInteger(json.code);
}

function firstIssue(cause: unknown): string {
  const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
  return issue ? `: ${issue.path.map(String).join('.')}: ${issue.message}` : '';
}

/**
 * The delay of a `Retry-After` header in milliseconds; null when it is absent or invalid.
 * A date is read against the response's own `Date`, so that a wrong local clock does not matter.
 */
export function readRetryAfter(headers: ResponseHeaders, now: number): number | null {
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

/** A name that is not encoded as it should be is shown as it came. */
function decodeField(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Milliseconds since 1970. `Date.parse` alone accepts much that is not an HTTP date. */
function readHttpDate(text: string): number | null {
  const time = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? null : time;
}

/** Whether the response is the stored one of an earlier request. Source: decision 0018. */
export const isReplayed = (headers: ResponseHeaders): boolean =>
  headers.get('idempotency-replayed')?.trim().toLowerCase() === 'true';

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
