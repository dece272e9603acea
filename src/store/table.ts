import { type RawBuilder, sql } from 'kysely';
import type { Instant } from '../contract/scalars.ts';
import type { Connection } from './engine/driver.ts';
import {
  type DynamicTables,
  dynamicStatement,
  type Encoders,
  type Parameter,
  type SqlValue,
  type Statement,
} from './engine/statement.ts';
import { remember } from './recent.ts';
import type { Tables } from './schema.ts';

/** How a field of a record, of type `T`, is kept in a column: under which name, and as which value `S`. */
export interface Column<N extends string, T, S extends SqlValue> {
  readonly name: N;
  toSql(value: T): S;
  fromSql(value: S): T;
}

/** The columns of a table, by the field that each keeps. */
export type Columns = Readonly<Record<string, Column<string, unknown, SqlValue>>>;

/** A row as the database has it. */
export type RowOf<C extends Columns> = {
  [F in keyof C as C[F]['name']]: ReturnType<C[F]['toSql']>;
};

/** A row as the rest of lkm sees it. */
export type RecordOf<C extends Columns> = {
  readonly [F in keyof C]: ReturnType<C[F]['fromSql']>;
};

/** A text, as it is; also ids, and instants in ISO 8601. */
export const text = <T extends string = string>() => plain<T>();

/** A number without a fraction. */
export const integer = () => plain<number>();

/** Yes or no, kept as 1 or 0. */
export const flag =
  () =>
  <N extends string>(name: N): Column<N, boolean, 0 | 1> => ({
    name,
    toSql: (value) => (value ? 1 : 0),
    fromSql: (value) => value === 1,
  });

/** A list or an object, kept as JSON text. */
export const json =
  <T>() =>
  <N extends string>(name: N): Column<N, T, string> => ({
    name,
    toSql: (value) => JSON.stringify(value),
    fromSql: (value) => JSON.parse(value) as T,
  });

/** A value that may be absent, kept as NULL. */
export const optional = <N extends string, T, S extends SqlValue>(
  column: Column<N, T, S>,
): Column<N, T | null, S | null> => ({
  name: column.name,
  toSql: (value) => (value === null ? null : column.toSql(value)),
  fromSql: (value) => (value === null ? null : column.fromSql(value)),
});

/** The conversion of a plain column: none. */
export const asItIs = <T>(value: T): T => value;

function plain<T extends SqlValue>() {
  return <N extends string>(name: N): Column<N, T, T> => ({
    name,
    toSql: asItIs,
    fromSql: asItIs,
  });
}

/** A table: its name, and its columns by field. Whatever is made from it below follows its columns. */
export interface Table<C extends Columns> {
  readonly name: keyof Tables;
  readonly columns: C;
}

/** A unique index by its columns; `whereNotNull` where it is of rows that have a value there, alone. */
export interface UniqueIndex {
  readonly columns: readonly string[];
  readonly whereNotNull?: string;
}

/** Adds a record. One that conflicts with the unique index of `skipConflictsOn`, or any, is skipped: 0 rows. */
export function insertInto<C extends Columns>(
  { name, columns }: Table<C>,
  { skipConflictsOn }: { readonly skipConflictsOn?: UniqueIndex | 'any' } = {},
): Statement<RecordOf<C>, unknown> {
  return dynamicStatement((db, $) => {
    const values = Object.entries(columns).map(([field, column]) => [column.name, $(field)]);
    const query = db.insertInto(name).values(Object.fromEntries(values));
    if (skipConflictsOn === undefined) return query;
    if (skipConflictsOn === 'any') return query.onConflict((on) => on.doNothing());
    const { columns: unique, whereNotNull } = skipConflictsOn;
    return query.onConflict((on) => {
      const index = on.columns([...unique]);
      return (whereNotNull === undefined ? index : index.where(whereNotNull, 'is not', null)).doNothing();
    });
  }, encodersOf(columns));
}

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

/** Which fields are changed together is for callers to choose: more combinations than this are forgotten. */
const MAX_PATCHES = 200;

/** What is done to the one record that the `key` fields name. */
export function byKey<C extends Columns, K extends keyof C & string, T>(
  { name, columns }: Table<C>,
  key: readonly K[],
  read: (row: RowOf<C>) => T,
) {
  type Key = Pick<RecordOf<C>, K>;
  const encoders = encodersOf(columns);
  const keyed = <Q extends { where(column: string, is: '=', value: SqlValue): Q }>(query: Q, $: Parameter) =>
    key.reduce((on, field) => on.where(columnOf(columns, field), '=', $(field)), query);
  const find = dynamicStatement<Key, RowOf<C>>((db, $) => keyed(db.selectFrom(name).selectAll(), $), encoders);
  const lock = dynamicStatement<Key, RowOf<C>>(
    (db, $) => keyed(db.selectFrom(name).selectAll(), $).forUpdate(),
    encoders,
  );
  const remove = dynamicStatement<Key, unknown>((db, $) => keyed(db.deleteFrom(name), $), encoders);
  const take = dynamicStatement<Key, RowOf<C>>((db, $) => keyed(db.deleteFrom(name), $).returningAll(), encoders);
  const updated = (fields: readonly string[], db: DynamicTables, $: Parameter) => {
    const set = fields.map((field) => [columnOf(columns, field), $(field)]);
    return keyed(db.updateTable(name).set(Object.fromEntries(set)), $);
  };
  const patches = remember<Statement<Key & Changes<C>, RowOf<C>>>(MAX_PATCHES);
  const patch = (changes: Changes<C>) => {
    const fields = Object.keys(columns).filter((field) => changes[field] !== undefined);
    return patches(fields.join(), () => dynamicStatement((db, $) => updated(fields, db, $).returningAll(), encoders));
  };

  async function one<P>(db: Connection, statement: Statement<P, RowOf<C>>, parameters: P): Promise<T | null> {
    const row = await db.first(statement, parameters);
    return row === undefined ? null : read(row);
  }
  return {
    find: (db: Connection, of: Key) => one(db, find, of),
    /** The record, which nobody else changes until this transaction ends. */
    lock: (db: Connection, of: Key) => one(db, lock, of),
    /** Changes what is given, in one statement, and returns the record as it is then. */
    patch: (db: Connection, of: Key, changes: Changes<C>) => one(db, patch(changes), { ...changes, ...of }),
    /** The statement that sets the same fields each time: for what is changed with every request. */
    setting: <F extends keyof C & string>(fields: readonly F[]): Statement<Pick<RecordOf<C>, K | F>, unknown> =>
      dynamicStatement((db, $) => updated(fields, db, $), encoders),
    /** Removes the records and returns them, in no order: `key` may also be what several have in common. */
    take: async (db: Connection, of: Key): Promise<T[]> => (await db.all(take, of)).map(read),
    /** False when there is none. */
    remove: async (db: Connection, of: Key): Promise<boolean> => (await db.run(remove, of)) === 1,
  };
}

/** New values for some fields of a record; undefined means unchanged. */
export type Changes<C extends Columns> = { readonly [F in keyof RecordOf<C>]?: RecordOf<C>[F] | undefined };

/**
 * Reads some fields of a row, or all of them. The function is compiled from the columns, with the first row: a loop over
 * them, with names that are not known before, takes five times as long, and every look-up reads rows.
 */
export function readerOf<C extends Columns, F extends keyof C & string = keyof C & string>(
  { columns }: Table<C>,
  fields: readonly F[] = Object.keys(columns) as F[],
): (row: Pick<RowOf<C>, C[F]['name']>) => Pick<RecordOf<C>, F> {
  type Read = (row: Pick<RowOf<C>, C[F]['name']>) => Pick<RecordOf<C>, F>;
  const compile = (): Read => {
    const decode = Object.fromEntries(fields.map((field) => [field, (columns[field] as C[F]).fromSql]));
    const members = fields.map((field) => {
      const value = `row[${JSON.stringify(columnOf(columns, field))}]`;
      const name = JSON.stringify(field);
      return `${name}: ${decode[field] === asItIs ? value : `decode[${name}](${value})`}`;
    });
    return new Function('decode', `return (row) => ({ ${members.join(', ')} })`)(decode);
  };
  let read: Read | undefined;
  return (row) => {
    read ??= compile();
    return read(row);
  };
}

/**
 * An instant that replaces the one in a column unless that is later: where several servers have clocks of their own, the
 * time of the last change never goes back.
 */
export const latestOf = (column: string, instant: Instant): RawBuilder<Instant> =>
  sql`case when ${sql.ref(column)} < ${instant} then ${instant} else ${sql.ref(column)} end`;

/** The name of a field's column. */
export function columnOf(columns: Columns, field: string): string {
  const column = columns[field];
  if (column === undefined) throw new TypeError(`no column keeps ${field}`);
  return column.name;
}

function encodersOf(columns: Columns): Encoders {
  return Object.fromEntries(
    Object.entries(columns).flatMap(([field, { toSql }]) => (toSql === asItIs ? [] : [[field, toSql]])),
  );
}
