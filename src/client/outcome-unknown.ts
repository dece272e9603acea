import { ApiError } from '../contract/errors.ts';
import { NetworkError, ProtocolError } from './errors.ts';

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
  return mayHaveRun(error) || (!settles(error) && mayHaveRunBefore(error));
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

const mayHaveRunBefore = ({ call }: ApiError) =>
  call !== null && 'mayHaveRunBefore' in call && call.mayHaveRunBefore === true;
