import { type RawBuilder, sql } from 'kysely';
import type { SqlValue } from './engine/statement.ts';
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

/** What a filter of a list can be. */
export type AnyCondition = Condition | Source | OneOf;

/** The values of a list's filters; one that is undefined is not applied. */
export type Filters<F extends string> = { readonly [name in F]?: SqlValue | readonly SqlValue[] | undefined };

/** Stands for a parameter of a statement. */
export type Parameter = (name: string) => SqlValue;

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

/** Rows are found in the list's own table, in another table in the same order, or in another order, if in any. */
export type RowSource = 'list' | 'otherTable' | { readonly inOrderOf: RawBuilder<unknown> | null };

/** What a selection is made of. */
export interface Origin {
  readonly table: keyof Tables;
  /** The column that the list is sorted by. */
  readonly order: string;
  readonly scope: readonly { readonly column: string; readonly field: string }[];
  /** By filter: the column in whose order an index finds its rows, null where they are few and in no order. */
  readonly sorted: Readonly<Record<string, string | null>>;
}

/** A filter that is used, with its condition, and how many values it has. */
export type Used<F extends string = string> = readonly [filter: F, condition: AnyCondition, count: number];

/**
 * Selects the rows that fit all filters. One filter finds rows, in one pass; all others are looked up for each of these.
 * Text finds few rows, so it is asked first; then another table, which has them in the order of the list; then the rest.
 */
export function selectionOf(origin: Origin, used: readonly Used[], $: Parameter): Selection {
  const orders = used.map(([filter]) => origin.sorted[filter]).filter((column) => column !== undefined);
  const source = orders.includes(null) ? undefined : used.find(([, condition]) => isSource(condition));
  if (source === undefined || !isSource(source[1])) {
    const [from, orderBy] = [sql.table(origin.table), ref(origin.table, origin.order)];
    return {
      source: orderOf(origin, orders),
      from,
      orderBy,
      where: fits(origin, used, $),
      parts: partsOf(origin, used, $),
    };
  }
  const [filter, { table, column, condition }, count] = source;
  const conditions = [...inScope(table, origin, $), condition(valuesOf(filter, count, $))];
  const rest = used.filter((one) => one !== source);
  if (rest.length > 0) conditions.push(isListed(origin, ref(table, column), rest, $));
  const where = and(conditions);
  return { source: 'otherTable', from: sql.table(table), orderBy: ref(table, column), where, parts: [where] };
}

function orderOf({ table }: Origin, orders: readonly (string | null)[]): RowSource {
  if (orders.length === 0) return 'list';
  const [column] = orders;
  return { inOrderOf: orders.includes(null) || column == null ? null : ref(table, column) };
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

/** Whether the list's own row, which `by` names, fits the filters. */
function isListed(origin: Origin, by: RawBuilder<unknown>, used: readonly Used[], $: Parameter): RawBuilder<unknown> {
  const same = sql`${ref(origin.table, origin.order)} = ${by}`;
  return sql`exists (select 1 from ${sql.table(origin.table)} where ${same} and ${fits(origin, used, $)})`;
}

/** Whether a row of the list is in its scope and fits the filters. */
function fits(origin: Origin, used: readonly Used[], $: Parameter): RawBuilder<unknown> {
  const conditions = used.map(([filter, condition, count]) => {
    const values = valuesOf(filter, count, $);
    if (isOneOf(condition)) return isAmong(ref(origin.table, condition.oneOf), values);
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
