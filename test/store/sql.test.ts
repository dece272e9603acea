import { describe, expect, it } from 'vitest';
import { join, prepareOnce, raw, type Sql, sql, write } from '../../src/store/engine/sql.ts';

const numbered = (position: number) => `$${position}`;

function compile(statement: Sql, place = numbered) {
  const [text, values] = prepareOnce((one) => write(one, place))(statement);
  return { text, values };
}

describe('a statement', () => {
  it('is text with a place for each value, whatever stands in the value', () => {
    const name = "x'; drop table products --";
    expect(compile(sql`select id from products where name = ${name} and active = ${1}`)).toEqual({
      text: 'select id from products where name = $1 and active = $2',
      values: [name, 1],
    });
  });

  it('takes parts of statements in, with their values in the order of their places', () => {
    const isOf = sql`account_id = ${'acc_1'}`;
    const ids = join(['a', 'b']);
    expect(compile(sql`delete from ${raw('products')} where ${isOf} and id in (${ids}) or name = ${'n'}`)).toEqual({
      text: 'delete from products where account_id = $1 and id in ($2, $3) or name = $4',
      values: ['acc_1', 'a', 'b', 'n'],
    });
  });

  it('has the places of its engine', () => {
    expect(compile(sql`select ${1}, ${null}`, () => '?')).toEqual({ text: 'select ?, ?', values: [1, null] });
  });

  it('refuses to run without one of its values', () => {
    const absent = undefined as unknown as string;
    expect(() => compile(sql`select ${absent}`)).toThrow(new TypeError('a value of a statement is undefined'));
  });

  it('is prepared once for all its values, and apart from one with a part in the place of a value', () => {
    const texts: string[] = [];
    const find = prepareOnce((one) => texts.push(write(one, numbered)));
    const is = (value: string | Sql) => sql`a = ${value}`;
    const both = (one: string | Sql, other: string | Sql) => sql`select ${is(one)} and ${other}`;
    for (const value of ['x', 'y']) {
      find(both(value, is('z')));
      find(both(is(value), 'z'));
      find(sql`select ${join([value, 'z'])}`);
      find(sql`select ${join([value, 'z', 'z'])}`);
    }
    expect(texts).toEqual([
      'select a = $1 and a = $2',
      'select a = a = $1 and $2',
      'select $1, $2',
      'select $1, $2, $3',
    ]);
  });

  it('is forgotten where there are too many, and works as before', () => {
    const find = prepareOnce((one) => write(one, numbered));
    for (let at = 0; at < 2_500; at += 1)
      expect(find(sql`select ${raw(`${at}`)}, ${at}`)).toEqual([`select ${at}, $1`, [at]]);
    expect(find(sql`select ${raw('7')}, ${'x'}`)).toEqual(['select 7, $1', ['x']]);
  });
});
