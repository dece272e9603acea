import { type AnyEndpoint, mutates } from '../contract/endpoint.ts';
import { encodeInput } from './encode.ts';
import { exchange } from './exchange.ts';
import { toError } from './failure.ts';
import { checkIdempotencyKey, type Speaker, writeHeaders } from './headers.ts';
import { addAttempt, addWait, noHistory } from './history.ts';
import type { AttemptEvent, CallOptions } from './options.ts';
import { readOutcome } from './outcome.ts';
import { decideRetry, type RetryLimits } from './retry.ts';
import type { Timing } from './timing.ts';
import type { Outgoing, Transport } from './transport.ts';

/** What all calls of one client share. */
export interface CallContext {
  /** Without a slash at the end. */
  readonly baseHref: string;
  readonly host: string;
  readonly speaker: Speaker;
  readonly limits: RetryLimits & { readonly timeoutMs: number };
  readonly timing: Timing;
  /** Opened with the first call. */
  openTransport(): Promise<Transport>;
  onHeaders(operation: string, headers: Headers): void;
  onAttempt(attempt: AttemptEvent): void;
}

/** Calls an operation: the same bytes and the same idempotency key with each attempt. Resolves to the payload. */
export async function call(
  context: CallContext,
  endpoint: AnyEndpoint,
  input: unknown,
  { idempotencyKey, signal }: CallOptions,
): Promise<unknown> {
  const { timing, limits, host } = context;
  signal?.throwIfAborted();
  const key = mutates(endpoint) ? (idempotencyKey ?? timing.newKey()) : null;
  const outgoing = prepare(context, endpoint, input, key);
  const transport = await context.openTransport();
  const operation = `${endpoint.method} ${endpoint.path}`;

  for (let before = noHistory; ; ) {
    const startedAt = timing.now();
    const received = await exchange(transport, outgoing, { timeoutMs: limits.timeoutMs, signal });
    if (received.kind === 'answer') context.onHeaders(operation, received.headers);
    const outcome = received.kind === 'answer' ? readOutcome(endpoint, received, timing.now()) : received;
    const history = addAttempt(before, outcome);
    const decision = decideRetry(outcome, history, limits, timing.random());
    context.onAttempt({
      operation,
      attempt: history.attempts,
      status: received.kind === 'answer' ? received.status : null,
      durationMs: Math.max(0, timing.now() - startedAt),
      idempotencyKey: key,
      willRetryInMs: decision.retry ? decision.waitMs : null,
    });
    if (outcome.kind === 'payload') return outcome.payload;
    if (!decision.retry) {
      const { attempts, sent } = history;
      const trace = { operation, idempotencyKey: key, attempts, mayHaveRunBefore: before.mayHaveRun };
      throw toError(outcome, endpoint, { call: trace, host, sent });
    }
    await timing.sleep(decision.waitMs, signal);
    signal?.throwIfAborted();
    before = addWait(history, outcome, decision.waitMs);
  }
}

function prepare(context: CallContext, endpoint: AnyEndpoint, input: unknown, key: string | null): Outgoing {
  if (key !== null) checkIdempotencyKey(key);
  const { search, body } = encodeInput(endpoint, input);
  return {
    url: `${context.baseHref}${endpoint.path}${search}`,
    method: endpoint.method,
    headers: writeHeaders(endpoint, context.speaker, key),
    body,
  };
}
