import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Connection } from '../../src/store/engine/driver.ts';
import { kyselyOn } from '../../src/store/engine/sqlite/connection.ts';
import type { Statement } from '../../src/store/engine/statement.ts';
import {
  byKey,
  type Changes,
  flag,
  insertInto,
  integer,
  json,
  optional,
  readerOf,
  type Table,
  text,
} from '../../src/store/table.ts';

const compiler = kyselyOn(new DatabaseSync(':memory:'));

const columns = {
  id: text()('id'),
  seats: optional(integer()('seats')),
  isTrial: flag()('is_trial'),
  features: json<readonly string[]>()('features'),
};

/** Stands for any table: what is made from it follows the columns alone. */
const table = { name: 'products' as const, columns };

const compile = (statement: Statement<never, unknown>) => statement.compile(compiler);

/** The statement that `work` runs. */
async function statementOf(work: (db: Connection) => Promise<unknown>): Promise<Statement<never, unknown>> {
  const run: Statement<never, unknown>[] = [];
  const first = async (statement: Statement<never, unknown>) => void run.push(statement);
  await work({ first } as unknown as Connection);
  return run[0] as Statement<never, unknown>;
}

const patchOf = <C extends typeof columns>(of: Table<C>, changes: Changes<C>) =>
  statementOf((db) => byKey(of, ['id'], readerOf(of)).patch(db, { id: 'a' } as never, changes));

const record = { id: 'a', seats: null, isTrial: true, features: ['x'] };

describe('what is made from the columns of a table', () => {
  it('adds a record, each field as its column keeps it', () => {
    const { sql, bind } = compile(insertInto(table));
    expect(sql).toBe('insert into "products" ("id", "seats", "is_trial", "features") values (?, ?, ?, ?)');
    expect(bind(record)).toEqual(['a', null, 1, '["x"]']);
  });

  it('changes the fields that are given, and no other, in one statement', async () => {
    const { sql, bind } = compile(await patchOf(table, { isTrial: false, seats: null }));
    expect(sql).toBe('update "products" set "seats" = ?, "is_trial" = ? where "id" = ? returning *');
    expect(bind({ id: 'a', isTrial: false, seats: null })).toEqual([null, 0, 'a']);
    expect(compile(await patchOf(table, { features: [], seats: undefined })).sql).toBe(
      'update "products" set "features" = ? where "id" = ? returning *',
    );
  });

  it('builds a statement once for each set of fields', async () => {
    const byId = byKey(table, ['id'], readerOf(table));
    const of = (changes: Changes<typeof columns>) => statementOf((db) => byId.patch(db, { id: 'a' }, changes));
    expect(await of({ seats: 1 })).toBe(await of({ seats: 2, isTrial: undefined }));
    expect(await of({ seats: 1 })).not.toBe(await of({ isTrial: true }));
  });

  it('reads a row back as the record that was added, or some fields of it', () => {
    const row = { id: 'a', seats: null, is_trial: 1, features: '["x"]' } as const;
    expect(readerOf(table)(row)).toEqual(record);
    expect(readerOf(table, ['isTrial'])(row)).toEqual({ isTrial: true });
  });

  it('follows a column that is added, without any other change', async () => {
    const wider = { ...table, columns: { ...columns, note: optional(text()('note')) } };
    const { sql, bind } = compile(insertInto(wider));
    expect(sql).toContain('"note") values (?, ?, ?, ?, ?)');
    expect(bind({ ...record, note: 'n' }).at(-1)).toBe('n');
    expect(readerOf(wider)({ id: 'a', seats: 1, is_trial: 0, features: '[]', note: null }).note).toBeNull();
    expect(compile(await patchOf(wider, { note: 'n' })).sql).toContain('set "note" = ?');
  });
});
