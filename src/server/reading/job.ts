import { ApiError, apiError, type Reason } from '../../contract/errors.ts';
import type { Instant } from '../../contract/scalars.ts';
import type { Caller } from '../../domain/access.ts';
import type { IpAddress } from '../../domain/ip-address.ts';
import { causeOf, StorageError } from '../../store/errors.ts';
import type { MasterKey } from '../../store/secret-box.ts';

/** An authorised read, as it is sent to the thread. */
export interface ReadJob {
  /** The name of the operation: `keys.list`. */
  readonly operation: string;
  readonly caller: Caller;
  /** Parsed by the schemas of the endpoint. */
  readonly input: unknown;
  readonly now: Instant;
  readonly ipAddress: IpAddress;
}

/** The data that the thread starts with. */
export interface ThreadData {
  /** The absolute path of the database. */
  readonly path: string;
  readonly masterKey: MasterKey | null;
}

/** A message to the thread: copy the log; or, for a read by its number: begin it, send its next part, or stop it. */
export type Message = 'copyLog' | { readonly id: number; readonly next: ReadJob | 'part' | 'nothing' };

/** A part of a response. The status of the first part is the status of the response. */
export interface Part {
  readonly status: number;
  readonly text: string;
  readonly isLast: boolean;
}

/** The answer of the thread: a part or an error. */
export type Answer = { readonly id: number } & ({ readonly part: Part } | ErrorData);

/** An error as data: a refusal by the service, or any other failure. */
type ErrorData =
  | { readonly refusal: { readonly reason: Reason; readonly message: string; readonly fields: readonly string[] } }
  | { readonly failure: Failure };

/** The codes of a database error decide about the advice for the operator. */
interface Failure {
  readonly isOfDatabase: boolean;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: unknown;
  readonly errcode?: unknown;
}

/** Turns an error into data, which can be sent to the other thread. */
export function errorToData(error: unknown): ErrorData {
  if (error instanceof ApiError && error.reason !== null) {
    const { reason, message, fields } = error;
    return { refusal: { reason, message, fields } };
  }
  const cause = causeOf(error);
  const { message, stack } = cause;
  const { code, errcode } = cause as { code?: unknown; errcode?: unknown };
  return { failure: { isOfDatabase: error instanceof StorageError, message, stack, code, errcode } };
}

/** Returns the part of an answer, or throws the error that the thread has sent. */
export function partOf(answer: Answer): Part {
  if ('part' in answer) return answer.part;
  if ('refusal' in answer) {
    const { reason, message, fields } = answer.refusal;
    throw apiError(reason, { hint: message, fields });
  }
  const { isOfDatabase, message, ...codes } = answer.failure;
  const error = Object.assign(new Error(message), codes);
  throw isOfDatabase ? new StorageError(error) : error;
}
