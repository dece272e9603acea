import { type AnyEndpoint, mutates } from '../contract/endpoint.ts';
import type { CallTrace } from '../contract/errors.ts';
import { type RawResponse, sendOnce } from './attempt.ts';
import { NetworkError, outcomeUnknown, ProtocolError } from './errors.ts';
import type { PreparedRequest, ResponseHeaders, Transport } from './network.ts';
import type { AttemptEvent, CallOptions, ClientOptions } from './options.ts';
import { type Credentials, checkIdempotencyKey, encodeInput, writeHeaders } from './request.ts';
import { isKeyLost, isReplayed, maxResponseBytes, readReply } from './response.ts';
import { countRetries, type RetryLimits } from './retries.ts';
import type { Timing } from './timing.ts';

/** The state that all calls of one client share. */
export interface CallContext {
  /** Without a slash at the end. */
  readonly baseHref: string;
  readonly host: string;
  /** The proxy, for messages. */
  readonly proxy?: string | undefined;
  readonly credentials: Credentials;
  readonly limits: RetryLimits & { readonly timeoutMs: number };
  readonly timing: Timing;
  readonly transport: Transport;
  readonly hooks: Pick<ClientOptions, 'onSend' | 'onAttempt' | 'onExchange' | 'onKeyLost'>;
  readonly onHeaders: (operation: string, headers: ResponseHeaders) => void;
}

/**
 * Calls an operation, with the same bytes and idempotency key each time, and returns its payload. Rejects with `InputError`,
 * `ApiError`, `NetworkError` or `ProtocolError`, or with the reason of the caller's signal.
 */
export async function call(
  context: CallContext,
  endpoint: AnyEndpoint,
  input: unknown,
  { idempotencyKey: givenKey, signal }: CallOptions,
): Promise<unknown> {
  const { transport, timing, limits, host, proxy, hooks } = context;
  signal?.throwIfAborted();
  const idempotencyKey = mutates(endpoint) ? (givenKey ?? timing.newKey()) : null;
  const request = prepareRequest(context, endpoint, input, idempotencyKey);
  const operation = `${endpoint.method} ${endpoint.path}`;
  const bounds = { timeoutMs: limits.timeoutMs, maxBytes: maxResponseBytes(endpoint), signal };
  const delayAfter = countRetries(limits);
  let sentBefore = false;
  let mayHaveRunBefore = false;

  for (let attempt = 1; ; attempt += 1) {
    const trace: CallTrace = { operation, idempotencyKey, attempts: attempt, mayHaveRunBefore };
    const startedAt = timing.now();
    hooks.onSend?.(operation);
    const received = await sendOnce(transport, request, bounds, { call: trace, host, proxy, sentBefore });
    const result = received instanceof NetworkError ? received : readResult(endpoint, received, trace, timing.now());
    const durationMs = Math.max(0, timing.now() - startedAt);
    const delayMs = 'payload' in result ? null : delayAfter({ error: result, durationMs, random: timing.random() });
    report(context, request, received, { operation, attempt, durationMs, idempotencyKey, willRetryInMs: delayMs });
    if ('payload' in result) return result.payload;
    if (delayMs === null) throw result;
    await timing.sleep(delayMs, signal);
    signal?.throwIfAborted();
    sentBefore ||= !(result instanceof NetworkError) || result.reached;
    mayHaveRunBefore ||= result instanceof NetworkError ? result.reached : outcomeUnknown(result);
  }
}

/** The result of a response. A call that may have changed something ends if its idempotency key is lost: another attempt could change it again. */
function readResult(endpoint: AnyEndpoint, response: RawResponse, call: CallTrace, now: number) {
  const { status, headers } = response;
  const reply = readReply(endpoint, response, call, now);
  const mayRepeat = call.mayHaveRunBefore || outcomeUnknown(reply);
  if (!mayRepeat || !isKeyLost(headers, call.idempotencyKey)) return reply;
  const message = 'the idempotency key did not reach the service';
  return new ProtocolError(message, { call, status, foreign: false, keyLost: true });
}

/** Reports an attempt to the hooks. */
function report(
  { hooks, onHeaders }: CallContext,
  request: PreparedRequest,
  received: RawResponse | NetworkError,
  attempt: Omit<AttemptEvent, 'status' | 'replayed'>,
): void {
  if (received instanceof NetworkError) {
    hooks.onExchange?.({ request, response: null });
    hooks.onAttempt?.({ ...attempt, status: null, replayed: false });
    return;
  }
  const { status, headers } = received;
  onHeaders(attempt.operation, headers);
  hooks.onExchange?.({ request, response: received });
  if (isKeyLost(headers, attempt.idempotencyKey)) hooks.onKeyLost?.(attempt.operation);
  hooks.onAttempt?.({ ...attempt, status, replayed: isReplayed(headers) });
}

/** The request of an operation; `key` is null for a read. Throws `InputError`. */
function prepareRequest(
  { baseHref, credentials }: CallContext,
  endpoint: AnyEndpoint,
  input: unknown,
  key: string | null,
): PreparedRequest {
  if (key !== null) checkIdempotencyKey(key);
  const { search, body } = encodeInput(endpoint, input);
  const headers = writeHeaders(endpoint, credentials, key);
  return { url: `${baseHref}${endpoint.path}${search}`, method: endpoint.method, headers, body };
}
