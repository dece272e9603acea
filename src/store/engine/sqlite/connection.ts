import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { Tables } from '../../schema.ts';
import type { Connection } from '../driver.ts';
import type { CompiledStatement, SqlValue, Statement } from '../statement.ts';
import { ConstraintError, StorageError } from '../storage-error.ts';

interface Prepared {
  readonly run: StatementSync;
  readonly bind: CompiledStatement['bind'];
}

/**
 * Runs statements on one SQLite connection; each is prepared once, the first time it is used.
 *
 * @param before called in front of each statement
 */
export function connect(database: DatabaseSync, compiler: Kysely<Tables>, before?: () => void): Connection {
  const prepared = new Map<Statement<never, unknown>, Prepared>();

  function prepare(statement: Statement<never, unknown>): Prepared {
    const known = prepared.get(statement);
    if (known !== undefined) return known;
    const { sql, bind } = statement.compile(compiler);
    const fresh = { run: attempt(() => database.prepare(sql)), bind };
    prepared.set(statement, fresh);
    return fresh;
  }

  const savepoint = database.prepare('SAVEPOINT nested');
  const release = database.prepare('RELEASE nested');
  const undo = database.prepare('ROLLBACK TO nested');

  function execute<T>(
    statement: unknown,
    parameters: unknown,
    work: (statement: StatementSync, values: SqlValue[]) => T,
  ): T {
    const { run, bind } = prepare(statement as Statement<never, unknown>);
    const values = bind(parameters as Readonly<Record<string, unknown>>);
    return attempt(() => {
      before?.();
      return work(run, values);
    });
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
    async nested(work) {
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
    },
    // Transactions of the one process that owns the file run one after the other.
    tryLock: async () => true,
  };
}

/** `SQLITE_CONSTRAINT`, and that of a trigger, which may raise it for any reason (sqlite.org/rescode.html). */
const CONSTRAINT = 19;
const CONSTRAINT_TRIGGER = 1811;

/** What the database throws becomes a StorageError, or a ConstraintError. */
function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { errcode = 0 } = error as { errcode?: number };
    const isConstraint = (errcode & 0xff) === CONSTRAINT && errcode !== CONSTRAINT_TRIGGER;
    if (error instanceof Error && isConstraint) throw new ConstraintError(error);
    throw new StorageError(error);
  }
}
