import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { kyselyOn } from '../../src/store/engine/sqlite/connection.ts';
import { statement } from '../../src/store/engine/statement.ts';

const compiler = kyselyOn(new DatabaseSync(':memory:'));

const rename = statement<{ id: string; name: string }>()((db, $) =>
  db.updateTable('products').set({ name: $.name, active: 1 }).where('id', '=', $.id),
);

describe('a statement', () => {
  it('is SQL with a place for each value', () => {
    expect(rename.compile(compiler).sql).toBe('update "products" set "name" = ?, "active" = ? where "id" = ?');
  });

  it('finds its values by name, whatever their order, and keeps those it was built with', () => {
    const { bind } = rename.compile(compiler);
    expect(bind({ id: 'prod_1', name: 'Editor' })).toEqual(['Editor', 1, 'prod_1']);
    expect(bind({ name: 'Viewer', id: 'prod_2' })).toEqual(['Viewer', 1, 'prod_2']);
  });

  it('puts a value wherever its name stands', () => {
    const twice = statement<{ now: string }>()((db, $) => db.updateTable('products').set({ name: $.now, id: $.now }));
    expect(twice.compile(compiler).bind({ now: 'n' })).toEqual(['n', 'n']);
  });

  it('takes null for a value', () => {
    expect(rename.compile(compiler).bind({ id: 'prod_1', name: null })).toEqual([null, 1, 'prod_1']);
  });

  it('ignores a value that it has no place for', () => {
    expect(rename.compile(compiler).bind({ id: 'prod_1', name: 'Editor', note: 'x' })).toEqual(['Editor', 1, 'prod_1']);
  });

  it('refuses to run without one of its values', () => {
    const { bind } = rename.compile(compiler);
    expect(() => bind({ id: 'prod_1' })).toThrow(new TypeError('statement parameter name was not given'));
  });
});
