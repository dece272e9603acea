import type { SqlValue } from './engine/statement.ts';

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

/** What a plain column does: nothing. */
export const asItIs = <T>(value: T): T => value;

function plain<T extends SqlValue>() {
  return <N extends string>(name: N): Column<N, T, T> => ({
    name,
    toSql: asItIs,
    fromSql: asItIs,
  });
}
