import { ApiError, type CallTrace } from '../contract/errors.ts';

type NetworkFailure = Pick<NetworkError, 'call' | 'sent' | 'timedOut'> &
  Partial<Pick<NetworkError, 'reached' | 'unreachable' | 'retryable'>>;

/** No complete response was received. `cause` is the error of the last attempt. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  readonly call: CallTrace;
  /** False only if it is certain that no attempt reached the service. */
  readonly sent: boolean;
  /** Whether the last attempt ran into its timeout. */
  readonly timedOut: boolean;
  /** Whether the last attempt may have reached the service. */
  readonly reached: boolean;
  /** Whether no connection could be made, as while a service restarts. */
  readonly unreachable: boolean;
  /** False when another attempt cannot succeed: an untrusted certificate, a server without TLS, a forbidden port. */
  readonly retryable: boolean;

  constructor(message: string, details: NetworkFailure, options?: ErrorOptions) {
    super(message, options);
    this.call = details.call;
    this.sent = details.sent;
    this.timedOut = details.timedOut;
    this.reached = details.reached ?? details.sent;
    this.unreachable = details.unreachable ?? false;
    this.retryable = details.retryable ?? true;
  }
}

type ProtocolFailure = Pick<ProtocolError, 'call' | 'status' | 'foreign'> &
  Partial<Pick<ProtocolError, 'retryAfterMs' | 'keyLost'>>;

/** A response outside the contract: a redirect, an HTML page, JSON in another shape. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly call: CallTrace;
  /** HTTP status of the last response. */
  readonly status: number;
  /**
   * Whether no lkm service has handled the request, so that nothing was changed: the base URL is probably wrong. False for a
   * mutation if an earlier attempt may have been carried out. Decision 0018.
   */
  readonly foreign: boolean;
  /** How long the response asks to wait (`Retry-After`), in milliseconds; null when it does not say. */
  readonly retryAfterMs: number | null;
  /** Whether the idempotency key did not reach the service, so that repeating the call could change something twice. */
  readonly keyLost: boolean;

  constructor(message: string, details: ProtocolFailure, options?: ErrorOptions) {
    super(message, options);
    this.call = details.call;
    this.status = details.status;
    this.foreign = details.foreign;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.keyLost = details.keyLost ?? false;
  }
}

/** The error of a call whose last attempt failed. */
export type CallError = ApiError | NetworkError | ProtocolError;

/** One thing wrong with an input; `path` is dotted (`newCustomer.email`), empty for the input as a whole. */
export interface InputIssue {
  readonly path: string;
  readonly message: string;
}

/** The caller's input does not fit the contract; nothing was sent. */
export class InputError extends TypeError {
  override readonly name = 'InputError';
  readonly issues: readonly InputIssue[];

  constructor(issues: readonly InputIssue[], options?: ErrorOptions) {
    super(issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '), options);
    this.issues = issues;
  }
}

type StatusAndCode = Pick<ApiError, 'status' | 'code'>;

/**
 * Whether a mutation may have been carried out although its call failed. Repeat the call with the same idempotency key
 * (`error.call.idempotencyKey`) to find out. Always false for a read.
 *
 * | the call ended with | outcome |
 * |---|---|
 * | `NetworkError` | unknown, unless nothing was sent (`sent` is false) |
 * | `ProtocolError` | unknown, unless the response was not lkm's (`foreign` is true) |
 * | `ApiError` 500, 502, 504, 409/3 | unknown; a 503 says that it was not carried out (API description, "Idempotency", 5) |
 * | `ApiError` 400, 404, 409, 403 but for 403/1 | known: not carried out, not by an earlier attempt either |
 * | `ApiError` of another status | not carried out by the last attempt; unknown if an earlier one may have run |
 */
export function outcomeUnknown(error: unknown): boolean {
  if (!isCallError(error) || typeof error.call?.idempotencyKey !== 'string') return false;
  if (error instanceof NetworkError) return error.sent;
  if (error instanceof ProtocolError) return !error.foreign;
  const mayHaveRun = [500, 502, 504].includes(error.status) || isInProgress(error);
  return mayHaveRun || (!settles(error) && error.call.mayHaveRunBefore === true);
}

/** Whether a value is an error of a call. */
export const isCallError = (error: unknown): error is CallError =>
  error instanceof ApiError || error instanceof NetworkError || error instanceof ProtocolError;

/** A request with the same idempotency key is running. Source: API description, "Idempotency", 4 and 6. */
export const isInProgress = ({ status, code }: StatusAndCode): boolean => status === 409 && code === 3;

/** Whether an error was decided after the idempotency check, and so holds for earlier attempts as well. */
export const settles = ({ status, code }: StatusAndCode): boolean =>
  [400, 404, 409].includes(status) || (status === 403 && code !== 1);
