import { and, join, raw, Sql, type SqlValue, sql } from './engine/sql.ts';

/** A condition on the rows of a list, met by few: an index finds them in the order of another column. */
export interface Sorted {
  readonly condition: Sql;
  readonly inOrderOf: string;
}

/** A condition on another table with the same scope, whose index names rows of the list in the order of the list. */
export interface Source {
  readonly table: string;
  /** The column that names rows of the list by what they are sorted by. */
  readonly column: string;
  readonly condition: Sql;
}

/** A column that has one of some values; an index has the rows of each in the order of the list. */
export interface OneOf {
  readonly column: string;
  readonly oneOf: readonly SqlValue[];
}

/** A query for what the list is sorted by, in a column `id`: it finds few rows, in no order, some more than once. */
export interface Found {
  readonly found: Sql;
}

/** What limits the rows of a list. Conditions name their columns with their tables. */
export type Filter = Sql | Sorted | Source | OneOf | Found;

/** A list: its table, the column that it is sorted by, and the values that its rows have in common, by column. */
export interface Listed {
  readonly table: string;
  readonly order: string;
  readonly scope: readonly (readonly [column: string, value: SqlValue])[];
}

/** The rows of a list that fit its filters. */
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

/**
 * Selects the rows that fit all filters. One filter finds rows, in one pass; all others are looked up for each of these.
 * Text finds few rows, so it is asked first; then another table, which has them in the order of the list; then the rest.
 */
export function selectionOf(list: Listed, filters: readonly Filter[]): Selection {
  const { table, order } = list;
  const driver = filters.find(isFound) ?? filters.find(isSource);
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
  const { from, orderBy, conditions } = rowsOf(list, driver);
  const rest = filters.filter((one) => one !== driver);
  const where = and(rest.length === 0 ? conditions : [...conditions, isListed(list, orderBy, rest)]);
  return { source: 'elsewhere', from, orderBy, where, parts: [where] };
}

/** So large a limit keeps planners from moving a condition into a query, or from leaving out its order. */
export const WITHOUT_LIMIT = raw(`limit ${Number.MAX_SAFE_INTEGER}`);

/** Where the filter that is asked first finds rows of the list. */
function rowsOf(list: Listed, filter: Found | Source) {
  if (isSource(filter)) {
    const { table, column, condition } = filter;
    return { from: raw(table), orderBy: ref(table, column), conditions: [...inScope(table, list), condition] };
  }
  // With a limit: no planner moves a condition into it, to read the list in its order for the few rows that are found.
  const all = sql`select distinct one.id from (${filter.found}) as one ${WITHOUT_LIMIT}`;
  return { from: sql`(${all}) as found`, orderBy: raw('found.id'), conditions: [raw('1 = 1')] };
}

function partsOf(list: Listed, filters: readonly Filter[]): Sql[] {
  const divided = filters.find((filter) => isOneOf(filter) && filter.oneOf.length > 1);
  if (divided === undefined || !isOneOf(divided)) return [fits(list, filters)];
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

/** Whether a row of the list is in its scope and fits the filters. */
function fits(list: Listed, filters: readonly Filter[]): Sql {
  const own = ref(list.table, list.order);
  const conditions = filters.map((filter) => {
    if (filter instanceof Sql) return filter;
    if (isOneOf(filter)) return isAmong(ref(list.table, filter.column), filter.oneOf);
    if (isFound(filter)) return sql`${own} in (${filter.found})`;
    if (!isSource(filter)) return filter.condition;
    const { table, column, condition } = filter;
    const found = and([...inScope(table, list), condition, sql`${ref(table, column)} = ${own}`]);
    return sql`exists (select 1 from ${raw(table)} where ${found})`;
  });
  return and([...inScope(list.table, list), ...conditions]);
}

const inScope = (table: string, { scope }: Listed): Sql[] =>
  scope.map(([column, value]) => sql`${ref(table, column)} = ${value}`);

/** Whether a column has one of some values; none has one of no values. */
export const isAmong = (column: Sql, values: readonly SqlValue[]): Sql =>
  values.length === 0 ? raw('1 = 0') : sql`${column} in (${join(values)})`;

const isSource = (filter: Filter): filter is Source => 'table' in filter;

const isFound = (filter: Filter): filter is Found => 'found' in filter;

const isOneOf = (filter: Filter): filter is OneOf => 'oneOf' in filter;

const ref = (table: string, column: string): Sql => raw(`${table}.${column}`);
