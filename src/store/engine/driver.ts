import { tracingChannel } from 'node:diagnostics_channel';
import type { OutboxRecord } from '../tables/record/outbox.ts';
import type { Sql } from './sql.ts';

/** What statements run on: a transaction, or the reader. Each method throws StorageError when the database fails. */
export interface Connection {
  /** The rows of a statement, each converted by `read` if that is given. */
  all<R, T = R>(statement: Sql, read?: (row: R) => T): Promise<T[]>;
  /** The first row of a statement, converted in the same way; null when there is none. */
  first<R, T = R>(statement: Sql, read?: (row: R) => T): Promise<T | null>;
  /** Runs a change and counts the rows it touched. */
  run(statement: Sql): Promise<number>;
  /**
   * Runs a change whose count nobody needs. On PostgreSQL it resolves before the answer: the next statement, or the commit,
   * throws what it throws.
   */
  send(statement: Sql): Promise<unknown>;
  /** Runs `work` so that, when it throws, what it wrote is undone while the transaction goes on. */
  nested<T>(work: () => Promise<T>): Promise<T>;
  /** Takes a name for this transaction alone; false at once when another transaction has it, on whatever replica. */
  tryLock(name: string): Promise<boolean>;
  /** Has the commit of this transaction make durable, wherever commits have to be, also what it has only read. */
  confirm(): Promise<unknown>;
  /** Keeps an entry for {@link AtCommit}, unless its part of the transaction is undone; false where it has to be written. */
  stage(entry: OutboxRecord): boolean;
}

/** How a database is opened. */
export interface OpenOptions {
  /** How long to wait for another short-lived owner of a SQLite file, in milliseconds; 0 unless given. */
  readonly waitMs?: number;
  /** How many connections to PostgreSQL a process opens at most; 17 unless given, and at least 3. */
  readonly connections?: number;
  /** Whether a database that does not exist is made; true unless given. */
  readonly create?: boolean;
  /** Whether an older schema is brought up to date; false unless given: then it is refused. */
  readonly migrate?: boolean;
}

export type Engine = 'SQLite' | 'PostgreSQL';

/** A database as an operator handles it, whatever its schema: inspected, migrated, copied. */
export interface Database {
  readonly engine: Engine;
  readonly connection: Connection;
  tables(): Promise<ReadonlySet<string>>;
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /**
   * Runs `work` while nobody else works on the database. Waits for others that do the same as long as they take.
   *
   * @param findDone asked while it waits: the result, once somebody else has done the work; else null
   * @throws StartupError when servers or commands use it, and go on for seconds
   */
  alone<T>(work: () => Promise<T>, findDone?: () => Promise<T | null>): Promise<T>;
  /** What to tell a person of an error of this database: a StartupError where the cause is known, else the error. */
  explain(error: unknown): unknown;
  close(): Promise<void>;
}

/** The process that uses a database file, as it describes itself to others; with `url`, where it serves it. */
export interface Owner {
  readonly pid?: number;
  readonly url?: string;
}

/** A database that is looked at, whatever its schema, and whoever has it open. */
export interface OpenForReading extends Omit<Database, 'transaction' | 'alone'> {
  /** The process that has the database for itself; null where none has, or any number may. */
  readonly owner: Owner | null;
  /** What an operator should know about it, one sentence each. */
  readonly warnings: readonly string[];
  /** Throws StorageError when PostgreSQL says that a change would fail. */
  check(): Promise<void>;
}

/** The file of a SQLite database, for a thread that reads it and copies its log. */
export interface SqliteFileInUse {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** Throws StorageError when the file was removed or replaced at its path. */
  check(): void;
  /** Whether the log has grown past its full size, since somebody reads an old state of it. */
  isLogTooLong(): boolean;
  /** From now on, has `work` copy the log when it is nearly full. */
  copyLogBy(work: () => void): void;
}

/** What is done at the end of a commit with what its transactions have staged. When it throws, all of them are undone. */
export type AtCommit = (connection: Connection, staged: readonly OutboxRecord[]) => Promise<void>;

/**
 * One database engine. Everything that differs between engines is behind this interface.
 *
 * `reader` shows only what is durable, and all that was acknowledged before the read. `transaction` resolves after a
 * durable commit; when `work` throws, what it wrote is undone and the error is passed on. It may call `work` again after a
 * conflict with another transaction, so that `work` must change nothing but the database. It throws StorageError when
 * nothing has happened for certain, and OutcomeUnknown when that cannot be told.
 */
export interface Driver extends Pick<Database, 'transaction' | 'explain'>, Pick<OpenForReading, 'warnings'> {
  readonly reader: Connection;
  /** Whether no other process writes to the database while this one has it open. */
  readonly isOnlyWriter: boolean;
  /** Set where the database is a file. */
  readonly file?: SqliteFileInUse;
  /** From now on, has `work` done in each commit. Absent where transactions commit by themselves. */
  readonly atCommit?: (work: AtCommit) => void;
  /** Resolves once every commit of unknown outcome has one: once the database answers again. */
  settled(): Promise<void>;
  /** Throws StorageError when a change would fail, as far as the database tells without one. Asks PostgreSQL once a second. */
  check(): Promise<void>;
  /** Tells other processes where this database is served. */
  publishUrl(url: string): void;
  /** Lets the transactions that are under way finish, then closes. */
  close(): Promise<void>;
}

/** A commit: how many changes it makes durable, and whether it does so before it returns. */
export interface Commit {
  readonly size: number;
  readonly isSynchronous: boolean;
}

/** Of this process, for whoever measures them; costs nothing while nobody does. */
export const commits = tracingChannel<object, Commit>('lkm:commit');
