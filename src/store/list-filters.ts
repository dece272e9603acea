import { type RawBuilder, sql } from 'kysely';
import type { Parameter, SqlValue } from './engine/statement.ts';
import type { Tables } from './schema.ts';

/** The values of a filter in SQL, by index. */
export interface Values {
  (index?: number): SqlValue;
  /** How many there are. */
  readonly count: number;
  /** The value that a field has in all rows of the list. */
  readonly scope: (field: string) => SqlValue;
}

/** A condition on the rows of a list, for values that the database knows. It names its columns with their tables. */
export type Condition = (values: Values) => RawBuilder<unknown>;

/** A condition on another table with the same scope, whose index names rows of the list in the order of the list. */
export interface Source {
  readonly table: keyof Tables;
  /** The column that names rows of the list by what they are sorted by. */
  readonly column: string;
  readonly condition: Condition;
}

/** A column that has one of the values of the filter, any number of them; an index has its rows in the order of the list. */
export interface OneOf {
  readonly oneOf: string;
}

/** A query for what the list is sorted by, in a column `id`: it finds few rows, in no order, some more than once. */
export interface Found {
  readonly found: Condition;
}

/** What a filter of a list can be. */
export type AnyCondition = Condition | Source | OneOf | Found;

/** The values of a list's filters; one that is undefined is not applied. */
export type Filters<F extends string> = { readonly [name in F]?: SqlValue | readonly SqlValue[] | undefined };

/** The rows of a list that fit its filters. */
export interface Selection {
  /** Where they are found, and in which order. */
  readonly source: RowSource;
  /** The table that they are looked up in. */
  readonly from: RawBuilder<unknown>;
  /** The column of that table that the list is sorted by. */
  readonly orderBy: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
  /** The same condition in parts that have no row in common, one for each value of `OneOf`. */
  readonly parts: readonly RawBuilder<unknown>[];
}

/** Rows are found in the list's own table, elsewhere by what it is sorted by, or in another order. */
export type RowSource = 'list' | 'elsewhere' | { readonly inOrderOf: RawBuilder<unknown> };

/** What a selection is made of. */
export interface Origin {
  readonly table: keyof Tables;
  /** The column that the list is sorted by. */
  readonly order: string;
  readonly scope: readonly { readonly column: string; readonly field: string }[];
  /** By filter: the column in whose order an index finds its rows. */
  readonly sorted: Readonly<Record<string, string>>;
}

/** A filter that is used, with its condition, and how many values it has. */
export type Used<F extends string = string> = readonly [filter: F, condition: AnyCondition, count: number];

/**
 * Selects the rows that fit all filters. One filter finds rows, in one pass; all others are looked up for each of these.
 * Text finds few rows, so it is asked first; then another table, which has them in the order of the list; then the rest.
 */
export function selectionOf(origin: Origin, used: readonly Used[], $: Parameter): Selection {
  const driver = used.find(([, condition]) => isFound(condition)) ?? used.find(([, condition]) => isSource(condition));
  if (driver === undefined) {
    const [from, orderBy] = [sql.table(origin.table), ref(origin.table, origin.order)];
    const source = sourceOf(origin, used);
    return { source, from, orderBy, where: fits(origin, used, $), parts: partsOf(origin, used, $) };
  }
  const { from, orderBy, conditions } = rowsOf(origin, driver, $);
  const rest = used.filter((one) => one !== driver);
  const where = and(rest.length === 0 ? conditions : [...conditions, isListed(origin, orderBy, rest, $)]);
  return { source: 'elsewhere', from, orderBy, where, parts: [where] };
}

function sourceOf({ table, sorted }: Origin, used: readonly Used[]): RowSource {
  const [column] = used.map(([filter]) => sorted[filter]).filter((column) => column !== undefined);
  return column === undefined ? 'list' : { inOrderOf: ref(table, column) };
}

/** Where the filter that is asked first finds rows of the list. */
function rowsOf(origin: Origin, [filter, found, count]: Used, $: Parameter) {
  const values = valuesOf(filter, count, $);
  if (isFound(found)) {
    // With a limit: no planner moves a condition into it, to read the list in its order for the few rows that are found.
    const all = sql`select distinct one.id from (${found.found(values)}) as one limit ${sql.lit(Number.MAX_SAFE_INTEGER)}`;
    return { from: sql`(${all}) as found`, orderBy: sql.ref('found.id'), conditions: [sql`1 = 1`] };
  }
  if (!isSource(found)) throw new TypeError(`${filter} finds no rows by itself`);
  const { table, column, condition } = found;
  const conditions = [...inScope(table, origin, $), condition(values)];
  return { from: sql.table(table), orderBy: ref(table, column), conditions };
}

function partsOf(origin: Origin, used: readonly Used[], $: Parameter): RawBuilder<unknown>[] {
  const divided = used.find(([, condition, count]) => isOneOf(condition) && count > 1);
  if (divided === undefined || !isOneOf(divided[1])) return [fits(origin, used, $)];
  const [filter, { oneOf }, count] = divided;
  const column = ref(origin.table, oneOf);
  const values = valuesOf(filter, count, $);
  const others = fits(origin, used.toSpliced(used.indexOf(divided), 1), $);
  return Array.from({ length: count }, (_, index) => sql`${others} and ${column} = ${values(index)}`);
}

/**
 * Whether the list's own row, which `by` names, fits the filters. `is true` keeps PostgreSQL from making a join of it, for
 * which it guesses how many rows fit, and may then read all that was found for each of them.
 */
function isListed(origin: Origin, by: RawBuilder<unknown>, used: readonly Used[], $: Parameter): RawBuilder<unknown> {
  const same = sql`${ref(origin.table, origin.order)} = ${by}`;
  return sql`exists (select 1 from ${sql.table(origin.table)} where ${same} and ${fits(origin, used, $)}) is true`;
}

/** Whether a row of the list is in its scope and fits the filters. */
function fits(origin: Origin, used: readonly Used[], $: Parameter): RawBuilder<unknown> {
  const conditions = used.map(([filter, condition, count]) => {
    const values = valuesOf(filter, count, $);
    if (isOneOf(condition)) return isAmong(ref(origin.table, condition.oneOf), values);
    if (isFound(condition)) return sql`${ref(origin.table, origin.order)} in (${condition.found(values)})`;
    if (!isSource(condition)) return condition(values);
    const { table, column } = condition;
    const same = sql`${ref(table, column)} = ${ref(origin.table, origin.order)}`;
    const found = and([...inScope(table, origin, $), condition.condition(values), same]);
    return sql`exists (select 1 from ${sql.table(table)} where ${found})`;
  });
  return and([...inScope(origin.table, origin, $), ...conditions]);
}

const inScope = (table: string, { scope }: Origin, $: Parameter) =>
  scope.map(({ column, field }) => sql`${ref(table, column)} = ${$(field)}`);

/** Whether a column has one of the values of a filter; none has one of no values. */
export const isAmong = (column: RawBuilder<unknown>, values: Values): RawBuilder<unknown> =>
  values.count === 0
    ? sql`1 = 0`
    : sql`${column} in (${sql.join(Array.from({ length: values.count }, (_, index) => values(index)))})`;

const isSource = (condition: AnyCondition): condition is Source => 'table' in condition;

const isFound = (condition: AnyCondition): condition is Found => 'found' in condition;

const isOneOf = (condition: AnyCondition): condition is OneOf => 'oneOf' in condition;

/** The parameters that carry the values of filters, by name. */
export function named(filters: Filters<string> = {}): Readonly<Record<string, SqlValue | undefined>> {
  return Object.fromEntries(
    Object.entries(filters).flatMap(([filter, value]) =>
      (Array.isArray(value) ? value : [value]).map((one, index) => [valueName(filter, index), one]),
    ),
  );
}

const valuesOf = (filter: string, count: number, $: Parameter): Values =>
  Object.assign((index = 0) => $(valueName(filter, index)), { count, scope: $ });

const valueName = (filter: string, index: number): string => `filter.${filter}.${index}`;

const ref = (table: string, column: string) => sql.ref(`${table}.${column}`);

const and = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> => sql.join(conditions, sql` and `);
