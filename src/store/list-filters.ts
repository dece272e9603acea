import type { Connection } from './engine/driver.ts';
import { and, join, raw, Sql, type SqlValue, sql } from './engine/sql.ts';

/** An expression that has one of some values; an index has the rows of each in the order of the list. */
export interface OneOf {
  readonly value: Sql;
  readonly oneOf: readonly SqlValue[];
}

/** A condition that only rows of some groups meet; an index has the rows of each group in the order of the list. */
export interface Grouped {
  readonly condition: Sql;
  readonly group: Sql;
  /** Whether a row has a group, in the words of the index. */
  readonly hasGroup: Sql;
  readonly first?: string | undefined;
  readonly last?: string | undefined;
  /** Conditions that divide the first or the last group, in which rows may not meet the condition; an index has these too. */
  divide(group: string): readonly Sql[];
}

/** Conditions of which a row meets at most one; an index has the rows of each in the order of the list. */
interface AnyOf {
  readonly anyOf: readonly Sql[];
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
export type Filter = Sql | OneOf | AnyOf | Grouped | Found;

/** A list: its table, the column that it is sorted by, and the values that its rows have in common, by column. */
export interface Listed {
  readonly table: string;
  readonly order: string;
  readonly scope: readonly (readonly [column: string, value: SqlValue])[];
}

export interface Selection {
  /** Whether they are found in the list's own table, or elsewhere by what it is sorted by. */
  readonly source: 'list' | 'elsewhere';
  /** The table that they are looked up in. */
  readonly from: Sql;
  /** The column of that table that the list is sorted by. */
  readonly orderBy: Sql;
  readonly where: Sql;
  /** The same condition in parts that have no row in common. */
  readonly parts: readonly Sql[];
}

/** A statement has a part for each group; SQLite takes 500 of these. */
const MAX_GROUPS = 120;

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
    return {
      source: 'list',
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
  const divided = filters.find((one) => isAnyOf(one) || (isOneOf(one) && one.oneOf.length > 1));
  if (divided === undefined) return [fits(list, filters)];
  const others = filters.filter((one) => one !== divided);
  const parts = isAnyOf(divided) ? divided.anyOf : equalTo(divided as OneOf);
  const common = fits(list, others);
  return parts.map((part) => sql`${common} and ${part}`);
}

const equalTo = ({ value, oneOf }: OneOf): Sql[] => oneOf.map((one) => sql`${value} = ${one}`);

/**
 * Names the groups that a condition leaves, unless another filter finds the rows anyway: a list then merges them, and reads
 * each only as far as its page goes. What has more groups than `MAX_GROUPS` is left to the planner.
 */
export async function withGroups(db: Connection, list: Listed, filters: readonly Filter[]): Promise<readonly Filter[]> {
  const grouped = filters.find(isGrouped);
  if (grouped === undefined || filters.some(isFound)) return filters;
  const { group, first, last, divide, condition } = grouped;
  const groups = await groupsOf(db, list, grouped);
  if (groups.length > MAX_GROUPS) return filters;
  const anyOf = groups.flatMap((one) =>
    db.keepsPlans && (one === first || one === last) ? divide(one) : [sql`${group} = ${one}`],
  );
  // As an expression, so that SQLite does not find the rows by their other value again for each group. PostgreSQL takes this
  // one for the column itself: of an expression it would not know how many rows have a value, and read whole groups.
  const others = filters.filter((one) => one !== grouped);
  const hidden = others.map((one) => (isOneOf(one) ? { ...one, value: sql`cast(${one.value} as text)` } : one));
  return [{ anyOf }, condition, ...hidden];
}

/** The groups there are, at most one more than `MAX_GROUPS`: each is one look into the index. */
function groupsOf(db: Connection, list: Listed, { group, hasGroup, first, last }: Grouped): Promise<string[]> {
  // One lower bound each: SQLite reads from the first of two on.
  const next = (bound: Sql) => {
    const upTo = last === undefined ? [] : [sql`${group} <= ${last}`];
    return sql`select min(${group}) from ${raw(list.table)} where ${and([...inScope(list), hasGroup, bound, ...upTo])}`;
  };
  const groups = sql`
    with recursive one (value) as (
      ${next(sql`${group} >= ${first ?? ''}`)}
      union all select (${next(sql`${group} > one.value`)}) from one where one.value is not null)
    select value from one where value is not null limit ${MAX_GROUPS + 1}`;
  return db.all(groups, (row: { value: string }) => row.value);
}

/**
 * Whether the list's own row, which `by` names, fits the filters. `is true` keeps PostgreSQL from making a join of it, for
 * which it guesses how many rows fit, and may then read all that was found for each of them.
 */
function isListed(list: Listed, by: Sql, filters: readonly Filter[]): Sql {
  const same = sql`${ref(list.table, list.order)} = ${by}`;
  return sql`exists (select 1 from ${raw(list.table)} where ${same} and ${fits(list, filters)}) is true`;
}

const inScope = ({ table, scope }: Listed): Sql[] =>
  scope.map(([column, value]) => sql`${ref(table, column)} = ${value}`);

function fits(list: Listed, filters: readonly Filter[]): Sql {
  const conditions = filters.map((filter) => {
    if (filter instanceof Sql) return filter;
    if (isOneOf(filter)) return isAmong(filter.value, filter.oneOf);
    if (isAnyOf(filter)) return or(filter.anyOf);
    if (isGrouped(filter)) return isInGroups(filter);
    return sql`exists (select 1 from (${filter.found}) as other where other.id = ${ref(list.table, list.order)})`;
  });
  return and([...inScope(list), ...conditions]);
}

/** The condition, with a range that the index has. */
function isInGroups({ condition, group, first, last }: Grouped): Sql {
  const bounds = [condition];
  if (first !== undefined) bounds.push(sql`${group} >= ${first}`);
  if (last !== undefined) bounds.push(sql`${group} <= ${last}`);
  return and(bounds);
}

/** Whether a column has one of some values; none has one of no values. */
export const isAmong = (column: Sql, values: readonly SqlValue[]): Sql =>
  values.length === 0 ? raw('1 = 0') : sql`${column} in (${join(values)})`;

const or = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? raw('1 = 0') : sql`(${join(conditions, ' or ')})`;

const isFound = (filter: Filter): filter is Found => 'found' in filter;

const isGrouped = (filter: Filter): filter is Grouped => 'group' in filter;

const isAnyOf = (filter: Filter): filter is AnyOf => 'anyOf' in filter;

const isOneOf = (filter: Filter): filter is OneOf => 'oneOf' in filter;

const ref = (table: string, column: string): Sql => raw(`${table}.${column}`);
