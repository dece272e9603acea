/** No whole answer: what is known about it. */
export interface Loss {
  readonly kind: 'loss';
  /** False only if it is certain that nothing reached the service. */
  readonly reached: boolean;
  readonly timedOut: boolean;
  /** Whether another attempt cannot help: the service's certificate is not to be trusted. */
  readonly hopeless: boolean;
  readonly cause: unknown;
}

/** Judges what a transport threw. */
export function readLoss(cause: unknown, timedOut: boolean): Loss {
  const errors = rootCauses(cause);
  const hopeless = errors.length > 0 && errors.every(isDistrust);
  const early = errors.length > 0 && errors.every(isBeforeSending);
  return { kind: 'loss', reached: !early, timedOut, hopeless, cause };
}

/** An error of Node or undici. */
export interface SystemError extends Error {
  readonly code?: string;
  readonly syscall?: string;
}

/** The errors at the bottom: `fetch failed` wraps them, and one attempt on several addresses has several. */
export function rootCauses(error: unknown): readonly SystemError[] {
  if (error instanceof AggregateError) return error.errors.flatMap(rootCauses);
  if (!(error instanceof Error)) return [];
  return error.cause === undefined ? [error] : rootCauses(error.cause);
}

const isBeforeSending = (error: SystemError) =>
  error.syscall === 'connect' ||
  error.syscall === 'getaddrinfo' ||
  error.code === 'UND_ERR_CONNECT_TIMEOUT' ||
  // undici, when a proxy refuses the tunnel; the code it gives is that of any aborted request.
  error.message.startsWith('Proxy response (') ||
  isDistrust(error) ||
  isNotTls(error);

/** Node's names for a certificate that fails verification, which happens before the request is written. */
const isDistrust = ({ code = '' }: SystemError) =>
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE))/.test(
    code,
  );

/** The other side does not speak TLS at all. */
const isNotTls = ({ code = '' }: SystemError) =>
  code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG';
