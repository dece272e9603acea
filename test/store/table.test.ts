import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { kyselyOn } from '../../src/store/engine/sqlite/connection.ts';
import type { Statement } from '../../src/store/engine/statement.ts';
import { flag, insertInto, integer, json, optional, patchOf, readerOf, text } from '../../src/store/table.ts';

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

const record = { id: 'a', seats: null, isTrial: true, features: ['x'] };

describe('what is made from the columns of a table', () => {
  it('adds a record, each field as its column keeps it', () => {
    const { sql, bind } = compile(insertInto(table));
    expect(sql).toBe('insert into "products" ("id", "seats", "is_trial", "features") values (?, ?, ?, ?)');
    expect(bind(record)).toEqual(['a', null, 1, '["x"]']);
  });

  it('changes the fields that are given, and no other, in one statement', () => {
    const patch = patchOf(table, ['id']);
    const { sql, bind } = compile(patch({ isTrial: false, seats: null }));
    expect(sql).toBe('update "products" set "seats" = ?, "is_trial" = ? where "id" = ? returning *');
    expect(bind({ id: 'a', isTrial: false, seats: null })).toEqual([null, 0, 'a']);
    expect(compile(patch({ features: [], seats: undefined })).sql).toBe(
      'update "products" set "features" = ? where "id" = ? returning *',
    );
  });

  it('builds a statement once for each set of fields', () => {
    const patch = patchOf(table, ['id']);
    expect(patch({ seats: 1 })).toBe(patch({ seats: 2, isTrial: undefined }));
    expect(patch({ seats: 1 })).not.toBe(patch({ isTrial: true }));
  });

  it('reads a row back as the record that was added, or some fields of it', () => {
    const row = { id: 'a', seats: null, is_trial: 1, features: '["x"]' } as const;
    expect(readerOf(table)(row)).toEqual(record);
    expect(readerOf(table, ['isTrial'])(row)).toEqual({ isTrial: true });
  });

  it('follows a column that is added, without any other change', () => {
    const wider = { ...table, columns: { ...columns, note: optional(text()('note')) } };
    const { sql, bind } = compile(insertInto(wider));
    expect(sql).toContain('"note") values (?, ?, ?, ?, ?)');
    expect(bind({ ...record, note: 'n' }).at(-1)).toBe('n');
    expect(readerOf(wider)({ id: 'a', seats: 1, is_trial: 0, features: '[]', note: null }).note).toBeNull();
    expect(compile(patchOf(wider, ['id'])({ note: 'n' })).sql).toContain('set "note" = ?');
  });
});
