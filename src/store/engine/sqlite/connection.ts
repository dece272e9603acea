import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { Kysely, SqliteAdapter, SqliteDialect, SqliteQueryCompiler } from 'kysely';
import { ConstraintError, StorageError } from '../../errors.ts';
import type { Tables } from '../../schema.ts';
import type { Connection } from '../driver.ts';
import type { CompiledStatement, SqlValue, Statement } from '../statement.ts';
import { codesOf } from './file.ts';

interface Prepared {
  readonly run: StatementSync;
  readonly bind: CompiledStatement['bind'];
  /** Whether it may change something: an update can return rows too. */
  readonly writes: boolean;
}

interface ConnectOptions {
  /** Called in front of each statement. */
  readonly before?: () => void;
  /** What is told of changes, and undoes them; absent from a connection that only reads. */
  readonly undo?: Undo;
}

/** Runs statements on one SQLite connection; each is prepared once, the first time it is used. */
export function connect(
  database: DatabaseSync,
  compiler: Kysely<Tables>,
  { before, undo }: ConnectOptions = {},
): Connection {
  // Weak, since lists forget statements that are not used any more.
  const prepared = new WeakMap<Statement<never, unknown>, Prepared>();

  function prepare(statement: Statement<never, unknown>): Prepared {
    const known = prepared.get(statement);
    if (known !== undefined) return known;
    const { sql, bind } = statement.compile(compiler);
    const fresh = { run: attempt(() => database.prepare(sql)), bind, writes: !sql.startsWith('select') };
    prepared.set(statement, fresh);
    return fresh;
  }

  function execute<T>(
    statement: Statement<never, unknown>,
    parameters: unknown,
    work: (statement: StatementSync, values: SqlValue[]) => T,
  ): T {
    const { run, bind, writes } = prepare(statement);
    const values = bind(parameters as Readonly<Record<string, unknown>>);
    const result = attempt(() => {
      before?.();
      return work(run, values);
    });
    if (writes && result !== 0) undo?.noteChange();
    return result;
  }

  return {
    async all<P, R>(statement: Statement<P, R>, parameters: P) {
      return execute(statement, parameters, (run, values) => run.all(...values)) as R[];
    },
    async first<P, R>(statement: Statement<P, R>, parameters: P) {
      return execute(statement, parameters, (run, values) => run.get(...values)) as R | undefined;
    },
    async run<P, R>(statement: Statement<P, R>, parameters: P) {
      return execute(statement, parameters, (run, values) => Number(run.run(...values).changes));
    },
    nested: (work) => (undo === undefined ? work() : undo.nested(work)),
    // Transactions of the one process that owns the file run one after the other.
    tryLock: async () => true,
  };
}

/** SQLite undoes a migration whole, tables included; Kysely's own adapter does not count on it. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** SQLite has one writer at a time, and so no clauses that lock rows. */
class LocklessCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(): void {}
}

class NodeSqliteDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }

  override createQueryCompiler(): SqliteQueryCompiler {
    return new LocklessCompiler();
  }
}

/** Kysely on `node:sqlite`: compiles the statements and runs the migrations. */
export function kyselyOn(database: DatabaseSync): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: new NodeSqliteDialect({
      database: {
        close: () => database.close(),
        prepare: (sql) => {
          const statement = database.prepare(sql);
          return {
            reader: statement.columns().length > 0,
            all: (parameters) => statement.all(...inputs(parameters)),
            run: (parameters) => statement.run(...inputs(parameters)),
            iterate: (parameters) => statement.iterate(...inputs(parameters)),
          };
        },
      },
    }),
  });
}

/** Migrations bind what SQLite takes, and nothing else. */
const inputs = (parameters: readonly unknown[]) => parameters as SQLInputValue[];

/** `SQLITE_CONSTRAINT`, and that of a trigger, which may raise it for any reason (sqlite.org/rescode.html). */
const CONSTRAINT = 19;
const CONSTRAINT_TRIGGER = 1811;

/** What the database throws becomes a StorageError, or a ConstraintError. */
export function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof StorageError) throw error;
    const { errcode } = codesOf(error);
    const isConstraint = (errcode & 0xff) === CONSTRAINT && errcode !== CONSTRAINT_TRIGGER;
    if (error instanceof Error && isConstraint) throw new ConstraintError(error);
    throw new StorageError(error);
  }
}

/** How nested work in a transaction on one SQLite connection is undone when it fails. */
export type Undo = ReturnType<typeof createUndo>;

/** For a connection that writes. */
export function createUndo(database: DatabaseSync) {
  const savepoint = database.prepare('SAVEPOINT part');
  const release = database.prepare('RELEASE part');
  const undo = database.prepare('ROLLBACK TO part');
  let usesSavepoints = true;
  let changes = 0;
  let needsRollback = false;

  return {
    /** Begins a transaction: with a savepoint for each nested work, or with none. */
    begin(withSavepoints: boolean): void {
      usesSavepoints = withSavepoints;
      needsRollback = false;
    },
    /** To be called when a statement has changed something. */
    noteChange(): void {
      changes += 1;
    },
    /** Runs nested work. What it wrote before it threw is undone; without savepoints the transaction cannot be kept then. */
    nested: <T>(work: () => Promise<T>): Promise<T> => (usesSavepoints ? inSavepoint(work) : watched(work)),
    /** Whether nested work has failed whose writes only a rollback of the whole transaction undoes. */
    get needsRollback(): boolean {
      return needsRollback;
    },
  };

  async function watched<T>(work: () => Promise<T>): Promise<T> {
    const before = changes;
    try {
      return await work();
    } catch (error) {
      if (changes !== before) needsRollback = true;
      throw error;
    }
  }

  async function inSavepoint<T>(work: () => Promise<T>): Promise<T> {
    attempt(() => savepoint.run());
    try {
      const value = await work();
      attempt(() => release.run());
      return value;
    } catch (error) {
      // A full or failing disk may have ended the whole transaction already.
      if (database.isTransaction) {
        attempt(() => undo.run());
        attempt(() => release.run());
      }
      throw error;
    }
  }
}
