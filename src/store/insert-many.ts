import type { Connection } from './engine/driver.ts';
import { dynamicStatement, type SqlValue, type Statement } from './engine/statement.ts';
import type { Columns, RecordOf, Table } from './table.ts';

/** How many rows the statements take: few sizes, so that each is prepared once. */
const SIZES = [64, 16, 4, 1] as const;

/** Adds any number of records to a table, in as few statements as their fixed sizes allow. */
export function insertManyInto<C extends Columns>({
  name,
  columns,
}: Table<C>): (db: Connection, records: readonly RecordOf<C>[]) => Promise<void> {
  const fields = Object.entries(columns);
  const statements = SIZES.map((size) => [size, insertRows(size)] as const);

  function insertRows(size: number): Statement<readonly SqlValue[], unknown> {
    return dynamicStatement((db, $) => {
      const rows = Array.from({ length: size }, (_, row) =>
        Object.fromEntries(fields.map(([, column], at) => [column.name, $(String(row * fields.length + at))])),
      );
      return db.insertInto(name).values(rows);
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
