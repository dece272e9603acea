import type { CallTrace } from '../contract/errors.ts';

/** A {@link CallTrace} that also remembers the attempts before the last. */
export interface Trace extends CallTrace {
  /** Whether an attempt before the last may have run the operation. */
  readonly mayHaveRunBefore: boolean;
}

/** No whole answer came. `cause` is what the network said last. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  readonly call: CallTrace;
  /** False only if it is certain that no attempt reached the service. */
  readonly sent: boolean;
  /** Whether the last attempt ran out of time. */
  readonly timedOut: boolean;

  constructor(
    message: string,
    about: { readonly call: CallTrace; readonly sent: boolean; readonly timedOut: boolean },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.call = about.call;
    this.sent = about.sent;
    this.timedOut = about.timedOut;
  }
}

/** An answer outside the contract: a redirect, a page instead of JSON, a shape that does not fit. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly call: CallTrace;
  /** HTTP status of the answer. */
  readonly status: number;

  constructor(message: string, about: { readonly call: CallTrace; readonly status: number }, options?: ErrorOptions) {
    super(message, options);
    this.call = about.call;
    this.status = about.status;
  }
}

/** One thing wrong with an input; `path` is dotted (`newCustomer.email`), empty for the input as a whole. */
export interface InputIssue {
  readonly path: string;
  readonly message: string;
}

/** The caller's input does not fit; nothing was sent. */
export class InputError extends TypeError {
  override readonly name = 'InputError';
  readonly issues: readonly InputIssue[];

  constructor(issues: readonly InputIssue[], options?: ErrorOptions) {
    super(issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '), options);
    this.issues = issues;
  }
}
