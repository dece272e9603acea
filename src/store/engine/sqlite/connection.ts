import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ConstraintError, StorageError } from '../../errors.ts';
import type { OutboxRecord } from '../../outbox-record.ts';
import type { Row } from '../../table.ts';
import type { Connection } from '../driver.ts';
import { identity, prepareOnce, type Sql, type SqlValue, write } from '../sql.ts';
import { codesOf } from './file.ts';

interface ConnectOptions {
  /** Called before each statement. */
  readonly before?: () => void;
  /** Undoes nested work; absent on the connection that only reads. */
  readonly undo?: Undo;
}

/** Each statement is prepared once, the first time it is used. */
export function connect(database: DatabaseSync, { before, undo }: ConnectOptions = {}): Connection {
  const prepared = prepareOnce((command) => {
    const statement = database.prepare(forSqlite(write(command, () => '?')));
    statement.setReturnArrays(true);
    return { statement, toRow: rowMaker(statement) };
  });

  async function execute<T>(command: Sql, work: (prepared: Prepared, values: Values) => T): Promise<T> {
    try {
      before?.();
      const [statement, values] = prepared(command);
      return work(statement, values);
    } catch (error) {
      throw toStorageError(error);
    }
  }

  return {
    all: async <R, T>(command: Sql, read: (row: R) => T = identity) =>
      (await execute(command, allRows)).map((row) => read(row as R)),
    async first<R, T>(command: Sql, read: (row: R) => T = identity) {
      const row = await execute(command, firstRow);
      return row === undefined ? null : read(row as R);
    },
    run: (command) => execute(command, countChanges),
    send: (command) => execute(command, countChanges),
    nested: (work) => (undo === undefined ? work() : undo.nested(work)),
    // Transactions of the one process that owns the file run one after the other.
    tryLock: async () => true,
    confirm: async () => {},
    stage: (entry) => undo?.stage(entry) ?? false,
  };
}

/**
 * Removes the clauses that lock rows: SQLite lacks them, and has one writer at a time. Adds 0 to bound limits: SQLite plans
 * a statement again for each value of a bare `limit ?`, which for a merged list takes longer than reading it.
 */
const forSqlite = (text: string): string =>
  text.replace(/ for (?:update|key share)$/, '').replaceAll(/\blimit \?/g, 'limit ? + 0');

interface Prepared {
  readonly statement: StatementSync;
  readonly toRow: (values: Values) => Row;
}

/** The values of a row, or of a statement, in order. */
type Values = readonly SqlValue[];

function allRows({ statement, toRow }: Prepared, values: Values): Row[] {
  return (statement.all(...values) as unknown as Values[]).map(toRow);
}

function firstRow({ statement, toRow }: Prepared, values: Values): Row | undefined {
  const found = statement.get(...values) as unknown as Values | undefined;
  return found && toRow(found);
}

const countChanges = ({ statement }: Prepared, values: Values): number => Number(statement.run(...values).changes);

/**
 * Makes row objects of arrays of values, in half the time that SQLite takes. The names of the columns are read again when their
 * number changes, as a migration may change it.
 */
function rowMaker(statement: StatementSync): (values: Values) => Row {
  let names: readonly string[] = [];
  let blank: Row = {};
  return (values) => {
    if (values.length !== names.length) {
      names = statement.columns().map(({ name }) => name);
      blank = Object.fromEntries(names.map((name) => [name, null]));
    }
    const row: Record<string, SqlValue> = { ...blank };
    for (let at = 0; at < names.length; at += 1) row[names[at] as string] = values[at] as SqlValue;
    return row;
  };
}

/** `SQLITE_CONSTRAINT`, and its extended code for triggers, which raise it for any reason (sqlite.org/rescode.html). */
const CONSTRAINT = 19;
const CONSTRAINT_TRIGGER = 1811;

/** Converts an error of SQLite to a StorageError or a ConstraintError. */
function toStorageError(error: unknown): Error {
  if (error instanceof StorageError) return error;
  const { errcode } = codesOf(error);
  const isConstraint = (errcode & 0xff) === CONSTRAINT && errcode !== CONSTRAINT_TRIGGER;
  return error instanceof Error && isConstraint ? new ConstraintError(error) : new StorageError(error);
}

function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    throw toStorageError(error);
  }
}

/** Undoes nested work of a transaction on one SQLite connection when it fails. */
export type Undo = ReturnType<typeof createUndo>;

/** The savepoints and the staged entries of a connection that writes. */
export function createUndo(database: DatabaseSync) {
  const savepoint = database.prepare('SAVEPOINT part');
  const release = database.prepare('RELEASE part');
  const rollBack = database.prepare('ROLLBACK TO part');
  let staged: OutboxRecord[] | null = null;

  return {
    /** Begins a transaction. */
    begin(): void {
      staged &&= [];
    },
    /** Lets later transactions stage entries. */
    collect(): void {
      staged = [];
    },
    stage(entry: OutboxRecord): boolean {
      staged?.push(entry);
      return staged !== null;
    },
    /** The staged entries of this transaction that are not undone. */
    staged: (): readonly OutboxRecord[] => staged ?? [],
    /** Runs nested work and undoes its writes if it throws. */
    async nested<T>(work: () => Promise<T>): Promise<T> {
      const stagedBefore = staged?.length;
      attempt(() => savepoint.run());
      try {
        const value = await work();
        attempt(() => release.run());
        return value;
      } catch (error) {
        staged &&= staged.slice(0, stagedBefore);
        // A full or failing disk may have ended the whole transaction already.
        if (database.isTransaction) {
          attempt(() => {
            rollBack.run();
            release.run();
          });
        }
        throw error;
      }
    },
  };
}
