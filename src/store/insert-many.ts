import type { Connection } from './engine/driver.ts';
import { dynamicStatement, type SqlValue, type Statement } from './engine/statement.ts';
import { type Columns, columnOf, type RecordOf, type Table } from './table.ts';

/** How many rows the statements take: few sizes, so that each is prepared once. */
const SIZES = [64, 16, 4, 1] as const;

/**
 * Adds any number of records to a table, in as few statements as their fixed sizes allow. With `key`, the fields of the
 * primary key, a record takes the place of the one that it finds there.
 */
export function insertManyInto<C extends Columns>(
  { name, columns }: Table<C>,
  key: readonly (keyof C & string)[] = [],
): (db: Connection, records: readonly RecordOf<C>[]) => Promise<void> {
  const fields = Object.entries(columns);
  const replaced = fields.filter(([field]) => !key.includes(field)).map(([, column]) => column.name);
  const statements = SIZES.map((size) => [size, insertRows(size)] as const);

  function insertRows(size: number): Statement<readonly SqlValue[], unknown> {
    return dynamicStatement((db, $) => {
      const rows = Array.from({ length: size }, (_, row) =>
        Object.fromEntries(fields.map(([, column], at) => [column.name, $(String(row * fields.length + at))])),
      );
      const query = db.insertInto(name).values(rows);
      if (key.length === 0) return query;
      return query.onConflict((on) =>
        on
          .columns(key.map((field) => columnOf(columns, field)))
          .doUpdateSet((row) => Object.fromEntries(replaced.map((column) => [column, row.ref(`excluded.${column}`)]))),
      );
    });
  }

  const valuesOf = (record: RecordOf<C>): SqlValue[] =>
    fields.map(([field, column]) => column.toSql(Reflect.get(record, field)));

  return async (db, records) => {
    let next = 0;
    for (const [size, statement] of statements) {
      for (; records.length - next >= size; next += size) {
        await db.run(statement, records.slice(next, next + size).flatMap(valuesOf));
      }
    }
  };
}
