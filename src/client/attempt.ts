import type { PreparedRequest, ResponseHeaders, Transport, TransportResponse } from './network.ts';
import { MAX_TIMER_MS } from './timing.ts';

/** A response that was read to its end, before it is checked against the contract. */
export interface RawResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Null when the body is longer than the attempt's `maxBytes`. */
  readonly text: string | null;
}

/** No complete response was received. */
export interface NetworkFailure {
  readonly kind: 'network-failure';
  /** False only if it is certain that nothing reached the service. */
  readonly reached: boolean;
  /** Whether no connection could be made, as while a service restarts. */
  readonly unreachable: boolean;
  readonly timedOut: boolean;
  /** False when another attempt cannot succeed: an untrusted certificate, a server without TLS, a forbidden port. */
  readonly retryable: boolean;
  readonly cause: unknown;
}

interface AttemptLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request once and reads the whole response. Throws only when the caller's signal aborts, with its reason. */
export async function sendOnce(
  transport: Transport,
  request: PreparedRequest,
  { timeoutMs, maxBytes, signal }: AttemptLimits,
): Promise<RawResponse | NetworkFailure> {
  const end = new AbortController();
  let isTimedOut = false;
  const expire = () => {
    isTimedOut = true;
    // Made when it is needed: its stack takes as long as the rest of an attempt.
    end.abort(new DOMException(`no complete response within ${timeoutMs} ms`, 'TimeoutError'));
  };
  const timer = setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS));
  // By hand: what `AbortSignal.any` makes lives as long as the caller's signal, and each attempt with it.
  const forward = () => end.abort(signal?.reason);
  if (signal?.aborted) forward();
  signal?.addEventListener('abort', forward, { once: true });
  try {
    const response = transport(request, end.signal).then(async ({ status, headers, body }) => {
      return { kind: 'response' as const, status, headers, text: await readText(body, maxBytes) };
    });
    return await rejectOnAbort(response, end.signal);
  } catch (cause) {
    signal?.throwIfAborted();
    return classifyFailure(cause, isTimedOut);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', forward);
  }
}

/** The text of a body; null when it is longer than `maxBytes`. */
export async function readText(body: TransportResponse['body'], maxBytes: number): Promise<string | null> {
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

/** What an error of the network says: whether anything reached the service, and whether another attempt can succeed. */
export function classifyFailure(cause: unknown, timedOut: boolean): NetworkFailure {
  const errors = rootCauses(cause);
  const all = (test: (error: SystemError) => boolean) => errors.length > 0 && errors.every(test);
  return {
    kind: 'network-failure',
    reached: !all(isBeforeSending),
    unreachable: all(isUnreachable),
    timedOut,
    retryable: !all((error) => isUntrustedCertificate(error) || isNotTls(error) || isForbiddenPort(error)),
    cause,
  };
}

/** An error of Node or of its `fetch`. */
interface SystemError extends Error {
  readonly code?: string;
  readonly syscall?: string;
}

/** The innermost errors: `fetch failed` wraps them, and one attempt on several addresses has several. */
export function rootCauses(error: unknown): readonly SystemError[] {
  if (error instanceof AggregateError) return error.errors.flatMap(rootCauses);
  if (!(error instanceof Error)) return [];
  return error.cause === undefined ? [error] : rootCauses(error.cause);
}

/** A host name that does not exist is not among these: unlike a refused connection, it seldom appears by itself. */
const isUnreachable = ({ code, syscall }: SystemError) =>
  syscall === 'connect' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'EAI_AGAIN';

const isBeforeSending = (error: SystemError) =>
  isUnreachable(error) ||
  error.syscall === 'getaddrinfo' ||
  // A proxy makes no tunnel; the code of an answer that is not 200 is that of any aborted request.
  /^UND_ERR_PRX_/.test(String(error.code)) ||
  error.message.startsWith('Proxy response (') ||
  isUntrustedCertificate(error) ||
  isNotTls(error) ||
  isForbiddenPort(error);

/** Node's names for a certificate that fails verification, which happens before the request is written. */
const isUntrustedCertificate = ({ code = '' }: SystemError) =>
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE))/.test(
    code,
  );

/** The server at this port does not use TLS. */
const isNotTls = ({ code = '' }: SystemError) =>
  code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG';

/** `fetch` opens no connection to some ports: https://fetch.spec.whatwg.org/#port-blocking */
const isForbiddenPort = ({ message }: SystemError) => message === 'bad port';
