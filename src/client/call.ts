import { type AnyEndpoint, mutates } from '../contract/endpoint.ts';
import type { CallTrace } from '../contract/errors.ts';
import { sendOnce } from './attempt.ts';
import { NetworkError, outcomeUnknown, ProtocolError } from './errors.ts';
import type { PreparedRequest, ResponseHeaders, Transport } from './network.ts';
import type { CallOptions, ClientOptions } from './options.ts';
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
  onHeaders(operation: string, headers: ResponseHeaders): void;
}

/**
 * Calls an operation, with the same bytes and idempotency key each time, and returns its payload. Rejects with `InputError`,
 * `ApiError`, `NetworkError` or `ProtocolError`, or with the reason of the caller's signal.
 */
export async function call(
  context: CallContext,
  endpoint: AnyEndpoint,
  input: unknown,
  { idempotencyKey, signal }: CallOptions,
): Promise<unknown> {
  const { transport, timing, limits, host, proxy, hooks } = context;
  signal?.throwIfAborted();
  const key = mutates(endpoint) ? (idempotencyKey ?? timing.newKey()) : null;
  const request = prepareRequest(context, endpoint, input, key);
  const operation = `${endpoint.method} ${endpoint.path}`;
  const bounds = { timeoutMs: limits.timeoutMs, maxBytes: maxResponseBytes(endpoint), signal };
  const delayAfter = countRetries(limits);
  let sentBefore = false;
  let mayHaveRunBefore = false;

  for (let attempt = 1; ; attempt += 1) {
    const trace: CallTrace = { operation, idempotencyKey: key, attempts: attempt, mayHaveRunBefore };
    const startedAt = timing.now();
    hooks.onSend?.(operation);
    const received = await sendOnce(transport, request, bounds, { call: trace, host, proxy, sentBefore });
    const response = received instanceof NetworkError ? null : received;
    if (response !== null) context.onHeaders(operation, response.headers);
    hooks.onExchange?.({ request, response });
    const reply = received instanceof NetworkError ? received : readReply(endpoint, received, trace, timing.now());
    const isLost = key !== null && response !== null && isKeyLost(response.headers, key);
    if (isLost) hooks.onKeyLost?.(operation);
    const mayRepeat: boolean = mayHaveRunBefore || (!('payload' in reply) && outcomeUnknown(reply));
    const result: typeof reply = isLost && mayRepeat ? withoutKey(trace, response.status) : reply;
    const durationMs = Math.max(0, timing.now() - startedAt);
    const delayMs =
      'payload' in result || result !== reply
        ? null
        : delayAfter({ error: result, durationMs, random: timing.random() });
    hooks.onAttempt?.({
      operation,
      attempt,
      status: response?.status ?? null,
      durationMs,
      idempotencyKey: key,
      replayed: response !== null && isReplayed(response.headers),
      willRetryInMs: delayMs,
    });
    if ('payload' in result) return result.payload;
    if (delayMs === null) throw result;
    await timing.sleep(delayMs, signal);
    signal?.throwIfAborted();
    sentBefore ||= !(result instanceof NetworkError) || result.reached;
    mayHaveRunBefore ||= result instanceof NetworkError ? result.reached : outcomeUnknown(result);
  }
}

/** Ends a call that may have changed something: without its idempotency key, another attempt could change it again. */
const withoutKey = (call: CallTrace, status: number): ProtocolError =>
  new ProtocolError('the idempotency key did not reach the service', { call, status, foreign: false, keyLost: true });

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
