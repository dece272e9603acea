import { describe, expect, it } from 'vitest';
import { compile, join, raw, sql } from '../../src/store/engine/sql.ts';

const numbered = (position: number) => `$${position}`;

describe('a statement', () => {
  it('is text with a place for each value, whatever stands in the value', () => {
    const name = "x'; drop table products --";
    expect(compile(sql`select id from products where name = ${name} and active = ${1}`, numbered)).toEqual({
      text: 'select id from products where name = $1 and active = $2',
      values: [name, 1],
    });
  });

  it('takes parts of statements in, with their values in the order of their places', () => {
    const isOf = sql`account_id = ${'acc_1'}`;
    const ids = join(['a', 'b']);
    expect(
      compile(sql`delete from ${raw('products')} where ${isOf} and id in (${ids}) or name = ${'n'}`, numbered),
    ).toEqual({
      text: 'delete from products where account_id = $1 and id in ($2, $3) or name = $4',
      values: ['acc_1', 'a', 'b', 'n'],
    });
  });

  it('has the places of its engine', () => {
    expect(compile(sql`select ${1}, ${null}`, () => '?')).toEqual({ text: 'select ?, ?', values: [1, null] });
  });

  it('refuses to run without one of its values', () => {
    const absent = undefined as unknown as string;
    expect(() => compile(sql`select ${absent}`, numbered)).toThrow(
      new TypeError('a value of a statement is undefined'),
    );
  });
});
