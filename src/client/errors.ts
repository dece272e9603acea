import { type AnyEndpoint, reasonsOf } from '../contract/endpoint.ts';
import { ApiError, type CallTrace, readApiError } from '../contract/errors.ts';
import { type NetworkFailure, rootCauses } from './attempt.ts';
import type { FailedAttempt } from './response.ts';

/** No complete response was received. `cause` is the error of the last attempt. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  readonly call: CallTrace;
  /** False only if it is certain that no attempt reached the service. */
  readonly sent: boolean;
  /** Whether the last attempt ran into its timeout. */
  readonly timedOut: boolean;

  constructor(message: string, details: Pick<NetworkError, 'call' | 'sent' | 'timedOut'>, options?: ErrorOptions) {
    super(message, options);
    this.call = details.call;
    this.sent = details.sent;
    this.timedOut = details.timedOut;
  }
}

/** A response outside the contract: a redirect, an HTML page, JSON in another shape. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly call: CallTrace;
  /** HTTP status of the last response. */
  readonly status: number;
  /**
   * Whether the response shows that no lkm service has handled the request, so that nothing was changed: the base URL
   * is probably wrong. False for a mutation of which an earlier attempt may have been carried out. Decision 0032.
   */
  readonly foreign: boolean;

  constructor(message: string, details: Pick<ProtocolError, 'call' | 'status' | 'foreign'>, options?: ErrorOptions) {
    super(message, options);
    this.call = details.call;
    this.status = details.status;
    this.foreign = details.foreign;
  }
}

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

/** The error with which a call ends after its last attempt. */
export function toCallError(
  failed: FailedAttempt,
  endpoint: AnyEndpoint,
  { call, host, sent }: { readonly call: CallTrace; readonly host: string; readonly sent: boolean },
): ApiError | NetworkError | ProtocolError {
  switch (failed.kind) {
    case 'error-response': {
      return readApiError(failed, reasonsOf(endpoint), call);
    }
    case 'invalid-response': {
      const { status, message, cause } = failed;
      const foreign = failed.foreign && !(call.idempotencyKey !== null && call.mayHaveRunBefore);
      return new ProtocolError(`the service ${message}`, { call, status, foreign }, { cause });
    }
    case 'network-failure': {
      const { timedOut, cause } = failed;
      const message = sent ? noResponse(host, call.attempts) : noConnection(host, failed);
      return new NetworkError(message, { call, sent, timedOut }, { cause });
    }
  }
}

const noResponse = (host: string, attempts: number) =>
  `no answer from ${host} after ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}`;

/** Some system errors have a code and no message. With several addresses, the first one's error is shown. */
function noConnection(host: string, { cause }: NetworkFailure): string {
  const [first] = rootCauses(cause);
  return `cannot connect to ${host}: ${first?.message || first?.code || 'unknown cause'}`;
}

/** Status and code of an error response. */
interface StatusAndCode {
  readonly status: number;
  readonly code: number;
}

/**
 * Whether a mutation may have been carried out although its call failed. Only repeating it with the same idempotency
 * key (`error.call.idempotencyKey`) shows it. Always false for a read.
 *
 * | the call ended with | outcome |
 * |---|---|
 * | `NetworkError` | unknown, unless nothing was sent (`sent` is false) |
 * | `ProtocolError` | unknown, unless the response was not lkm's (`foreign` is true) |
 * | `ApiError` 500, 502, 504, 409/3 | unknown |
 * | `ApiError` 400, 404, 409, 403 but for 403/1 | known: not carried out, not by an earlier attempt either |
 * | `ApiError` of another status | not carried out by the last attempt; unknown if an earlier one may have run |
 */
export function outcomeUnknown(error: unknown): boolean {
  if (error instanceof NetworkError) return isMutation(error) && error.sent;
  if (error instanceof ProtocolError) return isMutation(error) && !error.foreign;
  if (!(error instanceof ApiError) || !isMutation(error)) return false;
  return mayHaveRun(error) || (!settles(error) && error.call?.mayHaveRunBefore === true);
}

/** A request with the same idempotency key is running. Source: API description, "Idempotency", 4 and 6. */
export const isInProgress = ({ status, code }: StatusAndCode): boolean => status === 409 && code === 3;

/** Whether a mutation with this error may have been carried out. A 503 says that it was not (rule 5). */
export const mayHaveRun = (error: StatusAndCode): boolean =>
  [500, 502, 504].includes(error.status) || isInProgress(error);

/**
 * Whether an error also holds for the attempts before it. Only one that comes from behind the idempotency check does:
 * an error about the token, scope, size, rate or storage says nothing about an earlier attempt.
 */
export const settles = ({ status, code }: StatusAndCode): boolean =>
  [400, 404, 409].includes(status) || (status === 403 && code !== 1);

const isMutation = ({ call }: NetworkError | ProtocolError | ApiError) => typeof call?.idempotencyKey === 'string';
