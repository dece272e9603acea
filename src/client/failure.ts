import { type AnyEndpoint, reasonsOf } from '../contract/endpoint.ts';
import { type ApiError, readApiError } from '../contract/errors.ts';
import { NetworkError, ProtocolError, type Trace } from './errors.ts';
import { type Loss, rootCauses } from './loss.ts';
import type { Outcome } from './outcome.ts';

/** An outcome without a payload. */
export type Failure = Exclude<Outcome, { readonly kind: 'payload' }>;

/** What a call that ended in `failure` throws. */
export function toError(
  failure: Failure,
  endpoint: AnyEndpoint,
  about: { readonly call: Trace; readonly host: string; readonly sent: boolean },
): ApiError | NetworkError | ProtocolError {
  const { call, host, sent } = about;
  switch (failure.kind) {
    case 'refusal': {
      const { status, code, message } = failure;
      return readApiError({ status, code, message }, reasonsOf(endpoint), call);
    }
    case 'violation':
      return new ProtocolError(failure.message, { call, status: failure.status }, { cause: failure.cause });
    case 'loss': {
      const message = sent ? noAnswer(host, call.attempts) : noConnection(host, failure);
      return new NetworkError(message, { call, sent, timedOut: failure.timedOut }, { cause: failure.cause });
    }
  }
}

const noAnswer = (host: string, attempts: number) =>
  `no answer from ${host} after ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}`;

/** What the system says of one of the addresses; some errors have a code and no message. */
function noConnection(host: string, loss: Loss): string {
  const [first] = rootCauses(loss.cause);
  return `cannot connect to ${host}: ${first?.message || first?.code || 'unknown cause'}`;
}
