import type { CallTrace } from '../contract/errors.ts';
import { NetworkError } from './errors.ts';
import type { PreparedRequest, ResponseHeaders, Transport, TransportResponse } from './network.ts';
import { MAX_TIMER_MS } from './timing.ts';

/** A response that was read to its end, before it is checked against the contract. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Null if the body is too long for the operation. */
  readonly text: string | null;
}

interface AttemptLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** Details of the error of an attempt. */
interface AttemptTrace {
  readonly call: CallTrace;
  readonly host: string;
  /** The proxy that the attempt went through, without its password. */
  readonly proxy?: string | undefined;
  /** Whether an earlier attempt may have reached the service. */
  readonly sentBefore?: boolean;
}

/** Sends a request once; resolves to the whole response or to the error. Throws only the reason of the caller's signal, and faults of the program. */
export async function sendOnce(
  transport: Transport,
  request: PreparedRequest,
  { timeoutMs, maxBytes, signal }: AttemptLimits,
  trace: AttemptTrace,
): Promise<RawResponse | NetworkError> {
  const end = new AbortController();
  let isTimedOut = false;
  const expire = () => {
    isTimedOut = true;
    // Created only on use: its stack costs as much as the rest of an attempt.
    end.abort(new DOMException(`no complete response within ${timeoutMs} ms`, 'TimeoutError'));
  };
  const timer = setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS));
  // Not `AbortSignal.any`: its signal would keep each attempt in memory as long as the caller's signal lives.
  const forward = () => end.abort(signal?.reason);
  if (signal?.aborted) forward();
  signal?.addEventListener('abort', forward, { once: true });
  try {
    const response = transport(request, end.signal).then(async ({ status, headers, body }) => {
      return { status, headers, text: await readText(body, maxBytes) };
    });
    return await rejectOnAbort(response, end.signal);
  } catch (cause) {
    signal?.throwIfAborted();
    if (rootCauses(cause).some(isBug)) throw cause;
    return toNetworkError(cause, trace, isTimedOut);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', forward);
  }
}

/** The text of a body; null when it is longer than `maxBytes`. */
async function readText(body: TransportResponse['body'], maxBytes: number): Promise<string | null> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** A `Fetch` may ignore its signal; the caller must not wait for it. */
function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/** The error of an attempt without a complete response. */
function toNetworkError(
  cause: unknown,
  { call, host, proxy, sentBefore = false }: AttemptTrace,
  timedOut = false,
): NetworkError {
  const errors = rootCauses(cause);
  const all = (test: (error: SystemError) => boolean) => errors.length > 0 && errors.every(test);
  const reached = !all((error) => isUnreachable(error) || isNotSent(error) || isFinal(error));
  const sent = sentBefore || reached;
  const attempts = call.attempts === 1 ? '1 attempt' : `${call.attempts} attempts`;
  // Some system errors have a code and no message. With several addresses, the error of the first address is shown.
  const message = sent ? `no answer from ${host} after ${attempts}` : describeUnsent(errors[0], host, proxy);
  const details = { reached, unreachable: all(isUnreachable), retryable: !all(isFinal) };
  return new NetworkError(message, { call, sent, timedOut, ...details }, { cause });
}

function describeUnsent(error: SystemError | undefined, host: string, proxy: string | undefined): string {
  const cause = error?.message || error?.code || 'unknown cause';
  if (error === undefined || proxy === undefined) return `cannot connect to ${host}: ${cause}`;
  const [, status] = /^Proxy response \((\d+)\)/.exec(cause) ?? [];
  if (status === '407') return `the proxy ${proxy} wants a user name and a password (407)`;
  if (status !== undefined) return `the proxy ${proxy} made no connection to ${host}: it answered ${status}`;
  // Behind a proxy, only the proxy's name is looked up and connected to.
  const isOfProxy = isUnreachable(error) || error.syscall === 'getaddrinfo';
  return `cannot connect to ${isOfProxy ? `the proxy ${proxy}` : `${host} through the proxy ${proxy}`}: ${cause}`;
}

/** An error of Node or of its `fetch`. */
interface SystemError extends Error {
  readonly code?: string;
  readonly syscall?: string;
}

/** The innermost errors: `fetch failed` wraps them, and one attempt on several addresses has several. */
function rootCauses(error: unknown): readonly SystemError[] {
  if (error instanceof AggregateError) return error.errors.flatMap(rootCauses);
  if (!(error instanceof Error)) return [];
  return error.cause === undefined ? [error] : rootCauses(error.cause);
}

/** Whether an error is a bug: network errors have a code, and in browsers the message of `fetch` says so. */
const isBug = (error: SystemError) =>
  [TypeError, ReferenceError, RangeError, SyntaxError].some((kind) => error instanceof kind) &&
  error.code === undefined &&
  !/fetch|network|load failed|terminated|bad port/i.test(error.message);

/** Codes of failed connections that may pass by themselves. An unknown host name seldom does. */
const isUnreachable = ({ code, syscall }: SystemError) =>
  syscall === 'connect' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'EAI_AGAIN';

/** An unknown host, or a proxy that refuses a tunnel; only the message tells the latter from an aborted request. */
const isNotSent = ({ code, syscall, message }: SystemError) =>
  syscall === 'getaddrinfo' || /^UND_ERR_PRX_/.test(String(code)) || message.startsWith('Proxy response (');

/**
 * Another attempt cannot succeed, and nothing was sent: Node's names for a certificate that fails verification, a server
 * without TLS, a port that `fetch` does not open (https://fetch.spec.whatwg.org/#port-blocking).
 */
const isFinal = ({ code = '', message }: SystemError) =>
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_|HOSTNAME_MISMATCH)/.test(code) ||
  /^(INVALID_(CA|PURPOSE)|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$)/.test(code) ||
  message === 'bad port';
