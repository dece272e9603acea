import { tracingChannel } from 'node:diagnostics_channel';
import type { OutboxRecord } from '../outbox-record.ts';
import type { Sql } from './sql.ts';

/** Runs statements, in a transaction or on the reader. Each method throws StorageError when the database fails. */
export interface Connection {
  /** The rows of a statement, each converted by `read` if that is given. */
  all<R, T = R>(statement: Sql, read?: (row: R) => T): Promise<T[]>;
  /** The first row of a statement, converted in the same way; null without rows. */
  first<R, T = R>(statement: Sql, read?: (row: R) => T): Promise<T | null>;
  /** Runs a change and counts the rows it touched. */
  run(statement: Sql): Promise<number>;
  /**
   * Runs a change without counting rows. On PostgreSQL it resolves before the answer; its error comes from the next statement or
   * from the commit.
   */
  send(statement: Sql): Promise<unknown>;
  /** Runs `work`. When `work` throws, its writes are undone and the transaction goes on. */
  nested<T>(work: () => Promise<T>): Promise<T>;
  /** Tries to take a named transaction lock; false at once if another transaction of any replica holds it. */
  tryLock(name: string): Promise<boolean>;
  /** Makes the commit of this transaction wait for the standby, also for data that the transaction has only read. */
  confirm(): Promise<unknown>;
  /** Stages an entry for {@link AtCommit}; false if the engine has no such step and the entry must be written to a table. */
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
  /** Whether to migrate an older schema; default false: an older schema is refused. */
  readonly migrate?: boolean;
}

export type Engine = 'SQLite' | 'PostgreSQL';

/** A database for operator commands (inspect, migrate, copy), with any schema. */
export interface Database {
  readonly engine: Engine;
  readonly connection: Connection;
  tables(): Promise<ReadonlySet<string>>;
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /**
   * Runs `work` while nobody else works on the database. Waits for other processes that do the same, without a time limit.
   *
   * @param findDone called while waiting: the result, if another process has done the work; else null
   * @throws StartupError when servers or commands keep using the database for seconds
   */
  alone<T>(work: () => Promise<T>, findDone?: () => Promise<T | null>): Promise<T>;
  /** Explains an error of this database: a StartupError if the cause is known, else the error itself. */
  explain(error: unknown): unknown;
  close(): Promise<void>;
}

/**
 * The process that uses a database file, as it describes itself to other processes; `url` is the address at which it serves
 * the database.
 */
export interface Owner {
  readonly pid?: number;
  readonly url?: string;
}

/** A database that is only inspected, with any schema, also while another process has it open. */
export interface OpenForReading extends Omit<Database, 'transaction' | 'alone'> {
  /** The process that owns the database; null if no process does, or if the engine has no owner. */
  readonly owner: Owner | null;
  /** Warnings about the database for the operator, one sentence each. */
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
  /** Whether the log has grown past its full size because a reader holds an old state. */
  isLogTooLong(): boolean;
  /** Registers `work`, which copies the log when it is nearly full. */
  copyLogBy(work: () => void): void;
}

/** Runs at the end of a commit with the staged entries of its transactions. If it throws, all of them are undone. */
export type AtCommit = (connection: Connection, staged: readonly OutboxRecord[]) => Promise<void>;

/**
 * One database engine. All differences between engines are behind this interface.
 *
 * `reader` shows only durable rows, and every change that was acknowledged before the read. `transaction` resolves after a
 * durable commit; when `work` throws, its writes are undone and the error is passed on. It may call `work` again after a
 * conflict with another transaction, so that `work` must change nothing but the database. It throws StorageError when
 * nothing has happened for certain, and OutcomeUnknown when that cannot be told.
 */
export interface Driver extends Pick<Database, 'transaction' | 'explain'>, Pick<OpenForReading, 'warnings'> {
  readonly reader: Connection;
  /** Whether no other process writes to the database while this one has it open. */
  readonly isOnlyWriter: boolean;
  /** Set where the database is a file. */
  readonly file?: SqliteFileInUse;
  /** Registers `work` for each commit. Absent on engines where each transaction commits alone. */
  readonly atCommit?: (work: AtCommit) => void;
  /** Resolves once no commit has an unknown outcome, as soon as the database answers again. */
  settled(): Promise<void>;
  /**
   * Throws StorageError if a change would fail, as far as can be told without a change. Asks PostgreSQL at most once a
   * second.
   */
  check(): Promise<void>;
  /** Tells other processes the address at which this database is served. */
  publishUrl(url: string): void;
  /** Lets the transactions that are under way finish, then closes. */
  close(): Promise<void>;
}

/** A commit: how many changes it makes durable, and whether it does so before it returns. */
export interface Commit {
  readonly size: number;
  readonly isSynchronous: boolean;
}

/** The commits of this process, for metrics; costs nothing without a subscriber. */
export const commits = tracingChannel<object, Commit>('lkm:commit');
