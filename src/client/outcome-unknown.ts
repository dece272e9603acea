import { ApiError } from '../contract/errors.ts';
import { NetworkError, ProtocolError } from './errors.ts';
import { mayHaveRun, settles } from './verdict.ts';

/**
 * Whether a mutation may have happened although its call failed. Only a repetition with the same idempotency key
 * (`error.call.idempotencyKey`) finds out.
 */
export function outcomeUnknown(error: unknown): boolean {
  if (error instanceof NetworkError) return isMutation(error) && error.sent;
  if (error instanceof ProtocolError) return isMutation(error);
  if (!(error instanceof ApiError) || !isMutation(error)) return false;
  return mayHaveRun(error) || (!settles(error) && mayHaveRunBefore(error));
}

const isMutation = ({ call }: NetworkError | ProtocolError | ApiError) => typeof call?.idempotencyKey === 'string';

const mayHaveRunBefore = ({ call }: ApiError) =>
  call !== null && 'mayHaveRunBefore' in call && call.mayHaveRunBefore === true;
