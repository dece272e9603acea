import { type AnyEndpoint, mutates } from '../contract/endpoint.ts';
import { sendOnce } from './attempt.ts';
import { toCallError } from './errors.ts';
import type { AttemptEvent, CallOptions } from './options.ts';
import { type Credentials, checkIdempotencyKey, encodeInput, writeHeaders } from './request.ts';
import { maxResponseBytes, readResult } from './response.ts';
import { isReplayed } from './response-headers.ts';
import { addAttempt, addWait, noAttempts, type RetryLimits, retryDelay } from './retry.ts';
import type { Timing } from './timing.ts';
import type { PreparedRequest, ResponseHeaders, Transport } from './transport.ts';

/** What all calls of one client share. */
export interface CallContext {
  /** Without a slash at the end. */
  readonly baseHref: string;
  readonly host: string;
  readonly credentials: Credentials;
  readonly limits: RetryLimits & { readonly timeoutMs: number };
  readonly timing: Timing;
  /** Opened with the first call. */
  openTransport(): Promise<Transport>;
  onHeaders(operation: string, headers: ResponseHeaders): void;
  onAttempt(attempt: AttemptEvent): void;
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
  const { timing, limits, host } = context;
  signal?.throwIfAborted();
  const key = mutates(endpoint) ? (idempotencyKey ?? timing.newKey()) : null;
  const request = prepareRequest(context, endpoint, input, key);
  const transport = await context.openTransport();
  const operation = `${endpoint.method} ${endpoint.path}`;
  const bounds = { timeoutMs: limits.timeoutMs, maxBytes: maxResponseBytes(endpoint), signal };

  for (let before = noAttempts; ; ) {
    const startedAt = timing.now();
    const received = await sendOnce(transport, request, bounds);
    const response = received.kind === 'response' ? received : null;
    if (response !== null) context.onHeaders(operation, response.headers);
    const result = received.kind === 'response' ? readResult(endpoint, received, timing.now()) : received;
    const durationMs = Math.max(0, timing.now() - startedAt);
    const state = addAttempt(before, result, durationMs);
    const delayMs = retryDelay(result, state, limits, timing.random());
    context.onAttempt({
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

function prepareRequest(
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
