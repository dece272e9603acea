import { type AnyEndpoint, mutates } from '../contract/endpoint.ts';
import { sendOnce } from './attempt.ts';
import { isInProgress, mayHaveRun, toCallError } from './errors.ts';
import type { PreparedRequest, ResponseHeaders, Transport } from './network.ts';
import type { CallOptions, ClientOptions } from './options.ts';
import { type Credentials, checkIdempotencyKey, encodeInput, writeHeaders } from './request.ts';
import { type AttemptResult, isReplayed, maxResponseBytes, readResult } from './response.ts';
import type { Timing } from './timing.ts';

/** What all calls of one client share. */
export interface CallContext {
  /** Without a slash at the end. */
  readonly baseHref: string;
  readonly host: string;
  readonly credentials: Credentials;
  readonly limits: RetryLimits & { readonly timeoutMs: number };
  readonly timing: Timing;
  readonly transport: Transport;
  readonly hooks: Pick<ClientOptions, 'onSend' | 'onAttempt' | 'onExchange'>;
  onHeaders(operation: string, headers: ResponseHeaders): void;
}

/**
 * Calls an operation and returns its payload. Each attempt sends the same bytes and the same idempotency key.
 *
 * Rejects with `InputError`, `ApiError`, `NetworkError` or `ProtocolError`, or with the reason of the caller's signal.
 */
export async function call(
  context: CallContext,
  endpoint: AnyEndpoint,
  input: unknown,
  { idempotencyKey, signal }: CallOptions,
): Promise<unknown> {
  const { transport, timing, limits, host, hooks } = context;
  signal?.throwIfAborted();
  const key = mutates(endpoint) ? (idempotencyKey ?? timing.newKey()) : null;
  const request = prepareRequest(context, endpoint, input, key);
  const operation = `${endpoint.method} ${endpoint.path}`;
  const bounds = { timeoutMs: limits.timeoutMs, maxBytes: maxResponseBytes(endpoint), signal };

  for (let before = noAttempts; ; ) {
    const startedAt = timing.now();
    hooks.onSend?.(operation);
    const received = await sendOnce(transport, request, bounds);
    const response = received.kind === 'response' ? received : null;
    if (response !== null) context.onHeaders(operation, response.headers);
    hooks.onExchange?.({ request, response });
    const result = received.kind === 'response' ? readResult(endpoint, received, timing.now()) : received;
    const durationMs = Math.max(0, timing.now() - startedAt);
    const state = addAttempt(before, result, durationMs);
    const delayMs = retryDelay(result, state, limits, timing.random());
    hooks.onAttempt?.({
      operation,
      attempt: state.attempts,
      status: response?.status ?? null,
      durationMs,
      idempotencyKey: key,
      replayed: response !== null && isReplayed(response.headers),
      willRetryInMs: delayMs,
    });
    if (result.kind === 'success') return result.payload;
    if (delayMs === null) {
      const { attempts, sent } = state;
      const trace = { operation, idempotencyKey: key, attempts, mayHaveRunBefore: before.mayHaveRun };
      throw toCallError(result, endpoint, { call: trace, host, sent });
    }
    await timing.sleep(delayMs, signal);
    signal?.throwIfAborted();
    before = addWait(state, result, delayMs);
  }
}

/** The request of an operation; `key` is null for one that only reads. Throws `InputError`. */
export function prepareRequest(
  context: CallContext,
  endpoint: AnyEndpoint,
  input: unknown,
  key: string | null,
): PreparedRequest {
  if (key !== null) checkIdempotencyKey(key);
  const { search, body } = encodeInput(endpoint, input);
  return {
    url: `${context.baseHref}${endpoint.path}${search}`,
    method: endpoint.method,
    headers: writeHeaders(endpoint, context.credentials, key),
    body,
  };
}

/** How long and how often a call may be repeated; `ClientOptions` documents each. */
export interface RetryLimits {
  /** Null when the caller set no number. */
  readonly maxRetries: number | null;
  readonly maxElapsedMs: number;
  readonly maxUnreachableMs: number;
  readonly maxWaitMs: number;
}

/** What the attempts of one call add up to. */
export interface RetryState {
  readonly attempts: number;
  /** Attempts that failed, not counting those that met a request in progress. */
  readonly failures: number;
  /** Those failures in which the service could be reached. */
  readonly reachedFailures: number;
  /** Milliseconds since the first failure other than a rate limit: attempts and waits. */
  readonly failingMs: number;
  /** Attempts that met a request in progress (409/3). */
  readonly inProgress: number;
  /** Milliseconds waited for a request in progress. */
  readonly inProgressMs: number;
  /** Whether any attempt may have reached the service. */
  readonly sent: boolean;
  /** Whether any attempt may have carried out the operation. */
  readonly mayHaveRun: boolean;
}

/** The state before the first attempt. */
export const noAttempts: RetryState = {
  attempts: 0,
  failures: 0,
  reachedFailures: 0,
  failingMs: 0,
  inProgress: 0,
  inProgressMs: 0,
  sent: false,
  mayHaveRun: false,
};

/** The number of retries when the caller sets none. */
const DEFAULT_RETRIES = 4;

const BASE_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 5_000;
/** Waits add up to the time allowed even if the jitter is always 0. */
const MIN_BACKOFF_MS = 50;

/** Adds an attempt that took `durationMs`. */
export function addAttempt(state: RetryState, result: AttemptResult, durationMs: number): RetryState {
  const failed = result.kind !== 'success' && !isRequestInProgress(result);
  return {
    attempts: state.attempts + 1,
    failures: state.failures + (failed ? 1 : 0),
    reachedFailures: state.reachedFailures + (failed && !isOutage(result) ? 1 : 0),
    failingMs: state.failingMs === 0 ? 0 : state.failingMs + durationMs,
    inProgress: state.inProgress + (isRequestInProgress(result) ? 1 : 0),
    inProgressMs: state.inProgressMs,
    sent: state.sent || hasReached(result),
    mayHaveRun: state.mayHaveRun || resultMayHaveRun(result),
  };
}

/** Adds the wait after an attempt. */
export function addWait(state: RetryState, result: AttemptResult, waitMs: number): RetryState {
  if (isRequestInProgress(result)) return { ...state, inProgressMs: state.inProgressMs + waitMs };
  return isStatus(result, 429) ? state : { ...state, failingMs: state.failingMs + waitMs };
}

/**
 * Milliseconds until the next attempt, or null when the call ends with this one: exponential backoff with full jitter,
 * or what the service asks for. Reads and mutations alike, since the idempotency key makes a repetition safe.
 *
 * `state` includes the attempt; `random` is at least 0 and below 1. Decision 0032 has the numbers.
 */
export function retryDelay(
  result: AttemptResult,
  state: RetryState,
  limits: RetryLimits,
  random: number,
): number | null {
  if (isRequestInProgress(result)) return inProgressDelay(result, state, limits, random);
  if (!isTransient(result) || !isWithinRetries(result, state, limits)) return null;
  const backoffMs = backoff(state.failures, random);
  // Only these statuses use `Retry-After` in the contract.
  const askedMs = isStatus(result, 429, 503) ? retryAfter(result) : null;
  if (isStatus(result, 429)) return atMost(limits.maxWaitMs, askedMs ?? Math.min(backoffMs, limits.maxWaitMs));
  const remainingMs = (isUnreachable(result) ? limits.maxUnreachableMs : limits.maxElapsedMs) - state.failingMs;
  if (!(remainingMs > 0)) return null;
  return askedMs === null
    ? Math.min(backoffMs, Math.ceil(remainingMs))
    : atMost(limits.maxWaitMs, Math.max(MIN_BACKOFF_MS, askedMs));
}

/** A request in progress is waited for up to `maxWaitMs` in all; the minimum makes sure that the waits add up. */
function inProgressDelay(result: AttemptResult, state: RetryState, limits: RetryLimits, random: number): number | null {
  const waitMs = Math.max(BASE_BACKOFF_MS, retryAfter(result) ?? backoff(state.inProgress, random));
  return atMost(limits.maxWaitMs - state.inProgressMs, waitMs);
}

function isWithinRetries(result: AttemptResult, state: RetryState, { maxRetries }: RetryLimits): boolean {
  if (maxRetries !== null) return state.failures <= maxRetries;
  return isOutage(result) || state.reachedFailures <= DEFAULT_RETRIES;
}

function isTransient(result: AttemptResult): boolean {
  if (result.kind === 'success') return false;
  if (result.kind === 'network-failure') return result.retryable;
  return [429, 500, 502, 503, 504].includes(result.status);
}

const isUnreachable = (result: AttemptResult): boolean => result.kind === 'network-failure' && result.unreachable;

/** The service, or the proxy in front of it, is down for now, as in a restart. */
function isOutage(result: AttemptResult): boolean {
  return isUnreachable(result) || isStatus(result, 502, 503, 504);
}

const isStatus = (result: AttemptResult, ...statuses: readonly number[]): boolean =>
  'status' in result && statuses.includes(result.status);

const retryAfter = (result: AttemptResult) => ('retryAfterMs' in result ? result.retryAfterMs : null);

const isRequestInProgress = (result: AttemptResult) => result.kind === 'error-response' && isInProgress(result);

const hasReached = (result: AttemptResult) => result.kind !== 'network-failure' || result.reached;

function resultMayHaveRun(result: AttemptResult): boolean {
  if (result.kind === 'error-response') return mayHaveRun(result);
  if (result.kind === 'invalid-response') return !result.foreign;
  return hasReached(result);
}

const backoff = (attempt: number, random: number) =>
  Math.max(MIN_BACKOFF_MS, Math.floor(random * Math.min(MAX_BACKOFF_MS, BASE_BACKOFF_MS * 2 ** (attempt - 1))));

const atMost = (limitMs: number, waitMs: number) => (waitMs <= limitMs ? waitMs : null);
