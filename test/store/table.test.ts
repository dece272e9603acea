import { describe, expect, it } from 'vitest';
import type { Connection } from '../../src/store/engine/driver.ts';
import { prepareOnce, type Sql, write } from '../../src/store/engine/sql.ts';
import { flag, integer, json, optional, tableOf, text } from '../../src/store/table.ts';

const columns = {
  id: text('id'),
  seats: optional(integer('seats')),
  isTrial: flag('is_trial'),
  features: json<readonly string[]>('features'),
};

/** Stands for any table: what is made from it follows the columns alone. */
const table = tableOf('products', columns);

/** The statement that `work` runs. */
async function statementOf(work: (db: Connection) => Promise<unknown>) {
  const statements: Sql[] = [];
  const run = async (statement: Sql) => void statements.push(statement);
  await work({ first: run, run, send: run } as unknown as Connection);
  const [text, values] = prepareOnce((one) => write(one, () => '?'))(statements[0] as Sql);
  return { text, values };
}

const record = { id: 'a', seats: null, isTrial: true, features: ['x'] };

describe('what is made from the columns of a table', () => {
  it('adds a record, each field as its column keeps it', async () => {
    const { text, values } = await statementOf((db) => table.add(db, record));
    expect(text.trim()).toBe('insert into products (id, seats, is_trial, features) values (?, ?, ?, ?)');
    expect(values).toEqual(['a', null, 1, '["x"]']);
  });

  it('changes the fields that are given, and no other, in one statement', async () => {
    expect(await statementOf((db) => table.patch(db, { id: 'a' }, { isTrial: false, seats: null }))).toEqual({
      text: 'update products set is_trial = ?, seats = ? where id = ? returning *',
      values: [0, null, 'a'],
    });
    expect((await statementOf((db) => table.set(db, { id: 'a' }, { features: [], seats: undefined }))).text).toBe(
      'update products set features = ? where id = ?',
    );
  });

  it('never touches rows without a key', async () => {
    await expect(statementOf((db) => table.remove(db, {}))).rejects.toThrow(RangeError);
    const absent = { seats: 1, id: undefined as unknown as string };
    await expect(statementOf((db) => table.remove(db, absent))).rejects.toThrow(TypeError);
  });

  it('reads a row back as the record that was added, or without some fields', () => {
    const row = { id: 'a', seats: null, is_trial: 1, features: '["x"]' } as const;
    expect(table.read(row)).toEqual(record);
    expect(tableOf('products', columns, ['id', 'seats', 'features']).read(row)).toEqual({ isTrial: true });
  });
});
