import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { Connection } from '../driver.ts';
import type { CompiledStatement, SqlValue, Statement } from '../statement.ts';
import type { Tables } from '../tables.ts';

interface Prepared {
  readonly run: StatementSync;
  readonly bind: CompiledStatement['bind'];
}

/** Runs statements on one SQLite connection; each is prepared once, the first time it is used. */
export function connect(database: DatabaseSync, compiler: Kysely<Tables>): Connection {
  const prepared = new Map<Statement<never, unknown>, Prepared>();

  function prepare(statement: Statement<never, unknown>): Prepared {
    const known = prepared.get(statement);
    if (known !== undefined) return known;
    const { sql, bind } = statement.compile(compiler);
    const fresh = { run: database.prepare(sql), bind };
    prepared.set(statement, fresh);
    return fresh;
  }

  const values = (parameters: unknown) => parameters as Readonly<Record<string, SqlValue>>;

  return {
    async all<P, R>(statement: Statement<P, R>, parameters: P) {
      const { run, bind } = prepare(statement as Statement<never, R>);
      return run.all(...bind(values(parameters))) as R[];
    },
    async first<P, R>(statement: Statement<P, R>, parameters: P) {
      const { run, bind } = prepare(statement as Statement<never, R>);
      return run.get(...bind(values(parameters))) as R | undefined;
    },
    async run<P, R>(statement: Statement<P, R>, parameters: P) {
      const { run, bind } = prepare(statement as Statement<never, R>);
      return Number(run.run(...bind(values(parameters))).changes);
    },
  };
}
