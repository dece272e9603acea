import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { Kysely, SqliteAdapter, SqliteDialect, SqliteQueryCompiler } from 'kysely';
import type { Tables } from '../../schema.ts';

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
            all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
            run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
            iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
          };
        },
      },
    }),
  });
}
