import { and, join, raw, Sql, type SqlValue, sql } from './engine/sql.ts';

/** A condition on the rows of a list, met by few: an index finds them in the order of another column. */
export interface Sorted {
  readonly condition: Sql;
  readonly inOrderOf: string;
}

/** A column that has one of some values; an index has the rows of each in the order of the list. */
export interface OneOf {
  readonly column: string;
  readonly oneOf: readonly SqlValue[];
}

/**
 * A query for what the list is sorted by, in a column `id`. Either an index finds it in the order of the list, each once, or
 * it finds few rows, in no order, some more than once.
 */
export interface Found {
  readonly found: Sql;
  readonly isInOrder?: boolean;
}

/** What limits the rows of a list. Conditions name their columns with their tables. */
export type Filter = Sql | Sorted | OneOf | Found;

/** A list: its table, the column that it is sorted by, and the values that its rows have in common, by column. */
export interface Listed {
  readonly table: string;
  readonly order: string;
  readonly scope: readonly (readonly [column: string, value: SqlValue])[];
}

export interface Selection {
  /** Whether they are found in the list's own table, elsewhere by what it is sorted by, or in the order of a column. */
  readonly source: 'list' | 'elsewhere' | { readonly inOrderOf: Sql };
  /** The table that they are looked up in. */
  readonly from: Sql;
  /** The column of that table that the list is sorted by. */
  readonly orderBy: Sql;
  readonly where: Sql;
  /** The same condition in parts that have no row in common, one for each value of `OneOf`. */
  readonly parts: readonly Sql[];
}

/** So large a limit keeps planners from moving a condition into a query, or from leaving out its order. */
export const WITHOUT_LIMIT = raw(`limit ${Number.MAX_SAFE_INTEGER}`);

/**
 * Selects the rows that fit all filters. One filter finds rows, in one pass; all others are looked up for each of these.
 * What finds few rows is asked first; then what has them in the order of the list; then the list itself.
 */
export function selectionOf(list: Listed, filters: readonly Filter[]): Selection {
  const { table, order } = list;
  const finding = filters.filter(isFound);
  const driver = finding.find(({ isInOrder }) => isInOrder !== true) ?? finding[0];
  if (driver === undefined) {
    const [sorted] = filters.filter((filter) => 'inOrderOf' in filter);
    return {
      source: sorted === undefined ? 'list' : { inOrderOf: ref(table, sorted.inOrderOf) },
      from: raw(table),
      orderBy: ref(table, order),
      where: fits(list, filters),
      parts: partsOf(list, filters),
    };
  }
  const { found, isInOrder } = driver;
  const few = sql`select distinct one.id from (${found}) as one ${WITHOUT_LIMIT}`;
  const orderBy = raw('found.id');
  const rest = filters.filter((one) => one !== driver);
  const where = rest.length === 0 ? raw('1 = 1') : isListed(list, orderBy, rest);
  const from = sql`(${isInOrder === true ? found : few}) as found`;
  return { source: 'elsewhere', from, orderBy, where, parts: [where] };
}

function partsOf(list: Listed, filters: readonly Filter[]): Sql[] {
  const divided = filters.filter(isOneOf).find(({ oneOf }) => oneOf.length > 1);
  if (divided === undefined) return [fits(list, filters)];
  const others = filters.filter((one) => one !== divided);
  return divided.oneOf.map((value) => fits(list, [...others, sql`${ref(list.table, divided.column)} = ${value}`]));
}

/**
 * Whether the list's own row, which `by` names, fits the filters. `is true` keeps PostgreSQL from making a join of it, for
 * which it guesses how many rows fit, and may then read all that was found for each of them.
 */
function isListed(list: Listed, by: Sql, filters: readonly Filter[]): Sql {
  const same = sql`${ref(list.table, list.order)} = ${by}`;
  return sql`exists (select 1 from ${raw(list.table)} where ${same} and ${fits(list, filters)}) is true`;
}

function fits({ table, order, scope }: Listed, filters: readonly Filter[]): Sql {
  const inScope = scope.map(([column, value]) => sql`${ref(table, column)} = ${value}`);
  const conditions = filters.map((filter) => {
    if (filter instanceof Sql) return filter;
    if (isOneOf(filter)) return isAmong(ref(table, filter.column), filter.oneOf);
    if (!isFound(filter)) return filter.condition;
    return sql`exists (select 1 from (${filter.found}) as other where other.id = ${ref(table, order)})`;
  });
  return and([...inScope, ...conditions]);
}

/** Whether a column has one of some values; none has one of no values. */
export const isAmong = (column: Sql, values: readonly SqlValue[]): Sql =>
  values.length === 0 ? raw('1 = 0') : sql`${column} in (${join(values)})`;

const isFound = (filter: Filter): filter is Found => 'found' in filter;

const isOneOf = (filter: Filter): filter is OneOf => 'oneOf' in filter;

const ref = (table: string, column: string): Sql => raw(`${table}.${column}`);
