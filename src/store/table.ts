import type { Instant } from '../contract/scalars.ts';
import type { Connection } from './engine/driver.ts';
import { identity, join, raw, Sql, type SqlValue, sql } from './engine/sql.ts';

/** The column of a field of type `T`: its name, and the conversion from and to the stored value `S`. */
export interface Column<T, S extends SqlValue = SqlValue> {
  readonly name: string;
  toSql(value: T): S;
  fromSql(value: S): T;
}

/** By the field that each keeps. */
export type Columns = Readonly<Record<string, Column<unknown>>>;

/** A row as the database has it, by column. */
export type Row = Readonly<Record<string, SqlValue>>;

/** A row as the rest of lkm sees it. */
export type RecordOf<C extends Columns> = { readonly [F in keyof C]: ReturnType<C[F]['fromSql']> };

const plain = <T extends SqlValue>(name: string): Column<T, T> => ({ name, toSql: identity, fromSql: identity });

/** A text column; also for ids, and instants in ISO 8601. */
export const text = <T extends string = string>(name: string) => plain<T>(name);

export const integer = (name: string) => plain<number>(name);

export const flag = (name: string): Column<boolean, number> => ({
  name,
  toSql: (value) => (value ? 1 : 0),
  fromSql: (value) => value === 1,
});

export const json = <T>(name: string): Column<T, string> => ({
  name,
  toSql: (value) => JSON.stringify(value),
  fromSql: (value) => JSON.parse(value) as T,
});

/** A value that may be absent, kept as NULL. */
export const optional = <T, S extends SqlValue>({
  name,
  toSql,
  fromSql,
}: Column<T, S>): Column<T | null, S | null> => ({
  name,
  toSql: (value) => (value === null ? null : toSql(value)),
  fromSql: (value) => (value === null ? null : fromSql(value)),
});

/** New values for some fields of a record; undefined means unchanged. */
export type Changes<C extends Columns> = { readonly [F in keyof RecordOf<C>]?: RecordOf<C>[F] | undefined };

/** Skips a row that conflicts with an existing one. */
export const unlessTaken = sql`on conflict do nothing`;

/** Sorts few rows here, since the database would sort them without its index. */
export const oldestFirst = <T extends { readonly id: string }>(rows: T[]): T[] =>
  rows.sort((one, other) => (one.id < other.id ? -1 : 1));

/** The most rows per insert; each number of rows is a prepared statement of its own. */
const MAX_ROWS = 64;

type Template<T> = (...statement: Parameters<typeof sql>) => Promise<T>;

/**
 * A table of the database: its name, and its columns by field. A `key` names one record, or all records with the same values
 * of some fields.
 */
export function tableOf<C extends Columns, Hidden extends keyof C = never>(
  name: string,
  columns: C,
  hidden: readonly Hidden[] = [],
) {
  type Full = RecordOf<C>;
  type Shown = Omit<Full, Hidden>;
  type Key = Partial<Full>;
  const fields = Object.entries(columns).map(([field, column]) => ({ field, ...column }));
  const table = raw(name);
  const insertion = `insert into ${name} (${fields.map((column) => column.name).join(', ')}) values `;
  const read = readerOf<Shown>(fields.filter(({ field }) => !hidden.includes(field as Hidden)));
  const valuesOf = writerOf<Full>(fields);

  const rowTexts = ['(', ...fields.slice(1).map(() => ', '), ')'];
  const insertionTexts = [`${insertion}(`, ...rowTexts.slice(1)];
  const insertionOf = (record: Full): Sql => new Sql(insertionTexts, valuesOf(record));
  /** `column = value` for each field; at least one. */
  function assignments(values: readonly (readonly [field: string, value: unknown])[], separator: string): Sql {
    if (values.length === 0) throw new RangeError(`nothing is said of the columns of ${name}`);
    const named = values.map(([field, value]) => ({ column: columns[field] as Column<unknown>, value }));
    return new Sql(
      [...named.map(({ column }, at) => `${at === 0 ? '' : separator}${column.name} = `), ''],
      named.map(({ column, value }) => column.toSql(value)),
    );
  }
  const matching = (key: Key): Sql => assignments(Object.entries(key), ' and ');
  const select = (key: Key) => sql`select * from ${table} where ${matching(key)}`;
  const remove = (key: Key) => sql`delete from ${table} where ${matching(key)}`;
  const update = (key: Key, changes: Changes<C>) => {
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    return sql`update ${table} set ${assignments(given, ', ')} where ${matching(key)}`;
  };

  return {
    name,
    columns,
    read,
    /** The records of a statement that returns whole rows of the table. */
    all:
      (db: Connection): Template<Shown[]> =>
      (...statement) =>
        db.all(sql(...statement), read),
    first:
      (db: Connection): Template<Shown | null> =>
      (...statement) =>
        db.first(sql(...statement), read),
    find: (db: Connection, key: Key) => db.first(select(key), read),
    /** All records with the key, unordered; for few records. */
    findAll: (db: Connection, key: Key) => db.all(select(key), read),
    /** Locks and returns a record. */
    lock: (db: Connection, key: Key) => db.first(sql`${select(key)} for update`, read),
    /** Adds a record. */
    add: (db: Connection, record: Full) => db.send(insertionOf(record)),
    /** Adds a record; false if `conflict` skips it. */
    insert: async (db: Connection, record: Full, conflict: Sql): Promise<boolean> =>
      (await db.run(sql`${insertionOf(record)} ${conflict}`)) === 1,
    /** Adds any number of records, in few statements. */
    async insertMany(db: Connection, records: readonly Full[], conflict: Sql = raw('')): Promise<void> {
      for (let from = 0; from < records.length; from += MAX_ROWS) {
        const rows = records.slice(from, from + MAX_ROWS).map((record) => new Sql(rowTexts, valuesOf(record)));
        await db.send(sql`${raw(insertion)}${join(rows)} ${conflict}`);
      }
    },
    /** Changes the given fields; returns the number of records. */
    set: (db: Connection, key: Key, changes: Changes<C>) => db.run(update(key, changes)),
    /** Changes the given fields of a record, and returns the new record. */
    patch: (db: Connection, key: Key, changes: Changes<C>) => db.first(sql`${update(key, changes)} returning *`, read),
    remove: (db: Connection, key: Key) => db.run(remove(key)),
    /** Removes the records and returns them, in no order. */
    take: (db: Connection, key: Key) => db.all(sql`${remove(key)} returning *`, read),
  };
}

type Fields = readonly (Column<unknown> & { readonly field: string })[];

/** Makes a function that reads fields of a row. */
function readerOf<T>(fields: Fields): (row: Row) => T {
  const blank = Object.fromEntries(fields.map(({ field }) => [field, undefined]));
  return (row) => {
    // Copying an object with all its members is faster than adding them one by one.
    const record: Record<string, unknown> = { ...blank };
    for (const { field, name, fromSql } of fields) record[field] = fromSql(row[name] as SqlValue);
    return record as T;
  };
}

/** Makes a function that returns the values of a record in the order of the columns. */
const writerOf =
  <T>(fields: Fields) =>
  (record: T): SqlValue[] =>
    fields.map(({ field, toSql }) => toSql((record as Record<string, unknown>)[field]));

/** `from` names a table, with conditions if there are some. */
export async function countOf(db: Connection, from: Sql): Promise<number> {
  const row = await db.first<{ count: unknown }>(sql`select count(*) as count from ${from}`);
  return Number(row?.count);
}

/** The later of an instant and the instant in a column, since clocks of servers differ. */
export const latestOf = (column: string, instant: Instant): Sql => {
  const before = raw(column);
  return sql`case when ${before} < ${instant} then ${instant} else ${before} end`;
};
