import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { Kysely, SqliteAdapter, SqliteDialect, SqliteQueryCompiler } from 'kysely';
import type { Tables } from '../../schema.ts';
import type { Connection } from '../driver.ts';
import type { CompiledStatement, SqlValue, Statement } from '../statement.ts';
import { attempt } from './attempt.ts';
import type { Undo } from './undo.ts';

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

/** What a reading connection sees: one state of the database for all reads of a turn of the event loop. */
export interface Snapshot {
  /** Takes one, unless one is held; the end of the turn lets it go. */
  hold(): void;
  /** Lets it go now: the next read sees all that is durable by then. */
  release(): void;
}

/**
 * Makes reads share read transactions. One for each would take and free its locks each time, and throw away the
 * pages that the connection has in memory whenever a commit came in between.
 */
export function snapshotOf(database: DatabaseSync): Snapshot {
  const begin = database.prepare('BEGIN');
  const end = database.prepare('ROLLBACK');
  let scheduled = false;

  function release(): void {
    // A database that was closed in the meantime holds nothing.
    if (database.isOpen && database.isTransaction) end.run();
  }

  return {
    hold() {
      if (database.isTransaction) return;
      begin.run();
      if (scheduled) return;
      scheduled = true;
      setImmediate(() => {
        scheduled = false;
        release();
      });
    },
    release,
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
