import { z } from 'zod';
import type { AnyEndpoint } from '../contract/endpoint.ts';
import type { Answer } from './exchange.ts';
import type { Loss } from './loss.ts';
import { MAX_RESPONSE_BYTES } from './read-text.ts';
import { readRetryAfter } from './retry-after.ts';

/** How one attempt ended. */
export type Outcome = Payload | Refusal | Violation | Loss;

/** What was asked for, without its envelope. */
interface Payload {
  readonly kind: 'payload';
  readonly status: number;
  readonly payload: unknown;
}

/** The service said no, as `{message, code}`. */
interface Refusal {
  readonly kind: 'refusal';
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

/** An answer outside the contract; `message` says in what way. */
interface Violation {
  readonly kind: 'violation';
  readonly status: number;
  readonly message: string;
  readonly retryAfterMs: number | null;
  readonly cause?: unknown;
}

/** Reads an answer by the endpoint's contract; `now` is in milliseconds since 1970. */
export function readOutcome(endpoint: Pick<AnyEndpoint, 'reply'>, answer: Answer, now: number): Outcome {
  const { status, headers, text } = answer;
  const retryAfterMs = readRetryAfter(headers, now);
  const violation = (what: string, cause?: unknown): Violation => {
    return { kind: 'violation', status, message: `the service answered ${what}`, retryAfterMs, cause };
  };
  if (isRedirect(status)) return violation(`with a redirect to ${place(headers)}; check the base URL`);
  if (text === null) return violation(`${status} with more than ${MAX_RESPONSE_BYTES} bytes`);
  const json = parseJson(text);
  if (json === undefined) return violation(`${status} with something that is not JSON`);
  if (!isSuccess(status)) {
    if (!isErrorPayload(json)) return violation(`${status} without a message and a code`);
    return { kind: 'refusal', status, code: json.code, message: json.message, retryAfterMs };
  }
  try {
    return { kind: 'payload', status, payload: endpoint.reply.unwrap(json) };
  } catch (cause) {
    return violation(`${status} in a shape outside its contract${firstIssue(cause)}`, cause);
  }
}

const isSuccess = (status: number) => status >= 200 && status < 300;

/** 0 is how a browser's `fetch` shows a redirect that it did not follow. */
const isRedirect = (status: number) => status === 0 || (status >= 300 && status < 400);

/** Without the query, which may repeat a licence key. */
const place = (headers: Headers) => headers.get('location')?.replace(/[?#].*$/, '') ?? 'nowhere';

/** The parser's error is dropped: it quotes the answer, which may hold a licence key. */
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
