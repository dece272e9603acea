import { hash } from 'node:crypto';

/** A bulk run: the same command, file, options and product are the same run, on any machine and at any time. */
export interface Run {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** SHA-256 of all that makes it this run. */
  readonly digest: string;
}

export function runOf(...identity: readonly unknown[]): Run {
  const digest = hashOf(identity);
  return { id: digest.slice(0, 16), digest };
}

/** The reference of a key for which the file has none: the service gives one key for it, for ever. */
export const rowReference = ({ id }: Run, row: number): string => `run-${id}-${row}`;

/**
 * The idempotency key of a row. Only who has the file can make it: it opens the stored response. A body that is not the same,
 * such as one with an end that is counted from today, is another request; so is each `attempt` after a refusal.
 */
export const rowKey = ({ id, digest }: Run, row: number, body: unknown, attempt: number): string =>
  `run-${id}-${row}-${hashOf([digest, row, body, attempt]).slice(0, 16)}`;

/** The idempotency key of something that a run makes before its rows, by what it is. */
export const preparationKey = ({ id, digest }: Run, made: readonly string[]): string =>
  `run-${id}-${hashOf([digest, ...made]).slice(0, 16)}`;

const hashOf = (value: unknown): string => hash('sha256', JSON.stringify(value));
