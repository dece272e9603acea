import { ApiError, apiError, type Reason } from '../../contract/errors.ts';
import type { Instant } from '../../contract/scalars.ts';
import type { Caller } from '../../domain/access.ts';
import type { IpAddress } from '../../domain/ip-address.ts';
import { causeOf, StorageError } from '../../store/errors.ts';
import type { MasterKey } from '../../store/secret-box.ts';

/** An authorised request that reads, as the thread gets it. */
export interface ReadJob {
  /** The name of the operation: `keys.list`. */
  readonly operation: string;
  readonly caller: Caller;
  /** Parsed by the schemas of the endpoint. */
  readonly input: unknown;
  readonly now: Instant;
  readonly ipAddress: IpAddress;
}

/** What the thread is started with. */
export interface ThreadData {
  /** The absolute path of the database. */
  readonly path: string;
  readonly masterKey: MasterKey | null;
}

/** What the thread is told: to copy the log; or by the number of a read, to begin it, to go on with it, or to give it up. */
export type Message = 'copyLog' | { readonly id: number; readonly next: ReadJob | 'part' | 'nothing' };

/** A part of a response. Its status counts with the first one. */
export interface Part {
  readonly status: number;
  readonly text: string;
  readonly isLast: boolean;
}

/** The thread's answer to a message that asks for a part. */
export type Answer = { readonly id: number } & (
  | { readonly part: Part }
  | { readonly refusal: { readonly reason: Reason; readonly message: string; readonly fields: readonly string[] } }
  | { readonly failure: Failure }
);

/** An error as data. Of an error of the database, its codes say what an operator can do. */
interface Failure {
  readonly isOfDatabase: boolean;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: unknown;
  readonly errcode?: unknown;
}

/** An error as it crosses the border between the threads. */
export function errorToData(error: unknown): Pick<Answer & { refusal: object }, 'refusal'> | { failure: Failure } {
  if (error instanceof ApiError && error.reason !== null) {
    const { reason, message, fields } = error;
    return { refusal: { reason, message, fields } };
  }
  const cause = causeOf(error);
  const { message, stack } = cause;
  const { code, errcode } = cause as { code?: unknown; errcode?: unknown };
  return { failure: { isOfDatabase: error instanceof StorageError, message, stack, code, errcode } };
}

/** The part of an answer. Throws the error that the thread has sent instead. */
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
