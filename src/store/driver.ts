import type { Statement } from './statement.ts';

/** What statements run on: a transaction, or the reader. */
export interface Connection {
  /** All rows of a query. */
  all<P, R>(statement: Statement<P, R>, parameters: P): Promise<R[]>;
  /** The first row of a query, or undefined. */
  first<P, R>(statement: Statement<P, R>, parameters: P): Promise<R | undefined>;
  /** Runs a change and counts the rows it touched. */
  run<P, R>(statement: Statement<P, R>, parameters: P): Promise<number>;
}

/**
 * One database engine. Everything that differs between engines is behind this interface.
 *
 * `reader` shows only what is durable. `transaction` resolves after a durable commit; when `work` throws, what it
 * wrote is undone and the error is passed on.
 */
export interface Driver {
  readonly reader: Connection;
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
