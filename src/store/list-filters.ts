import { type RawBuilder, sql } from 'kysely';
import type { SqlValue } from './engine/statement.ts';
import type { Tables } from './schema.ts';

/** The values of a filter in SQL, by place. */
export interface Values {
  (place?: number): SqlValue;
  /** The value that a field has in all rows of the list. */
  readonly scope: (field: string) => SqlValue;
}

/** A condition on the rows of a list, for values that the database knows. */
export type Condition = (values: Values) => RawBuilder<unknown>;

/** A condition on another table with the same scope, whose index names rows of the list in the order of the list. */
export interface Source {
  readonly table: keyof Tables;
  /** The column that names rows of the list by what they are sorted by. */
  readonly column: string;
  readonly condition: Condition;
}

/** The values of a list's filters; one that is undefined is not applied. */
export type Filters<F extends string> = { readonly [name in F]?: SqlValue | readonly SqlValue[] | undefined };

/** Stands for a parameter of a statement. */
export type Parameter = (name: string) => SqlValue;

/** The rows of a list that fit its filters. */
export interface Selection {
  /** The table that they are looked up in. */
  readonly from: RawBuilder<unknown>;
  /** The column of that table that the list is sorted by. */
  readonly by: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
}

/** What a selection is made of: the table of the list, the columns and fields of its scope, what it is sorted by. */
export interface Origin {
  readonly table: keyof Tables;
  readonly order: string;
  readonly scope: readonly { readonly column: string; readonly field: string }[];
}

/** A filter that is used, with its condition. */
export type Used = readonly [filter: string, condition: Condition | Source];

/** Selects the rows that fit all filters. Those of other tables come first: the first of them finds the rows. */
export function selectionOf(origin: Origin, used: readonly Used[], $: Parameter): Selection {
  const [source, ...rest] = used.toSorted(([, one], [, other]) => Number(isSource(other)) - Number(isSource(one)));
  if (source === undefined || !isSource(source[1])) {
    return { from: sql.table(origin.table), by: ref(origin.table, origin.order), where: fits(origin, used, $) };
  }
  const [filter, { table, column, condition }] = source;
  const where = [...inScope(table, origin, $), condition(valuesOf(filter, $))];
  if (rest.length > 0) where.push(isListed(origin, ref(table, column), rest, $));
  return { from: sql.table(table), by: ref(table, column), where: and(where) };
}

/** Whether the list's own row, which `by` names, fits the filters. */
function isListed(origin: Origin, by: RawBuilder<unknown>, used: readonly Used[], $: Parameter): RawBuilder<unknown> {
  const same = sql`${ref(origin.table, origin.order)} = ${by}`;
  return sql`exists (select 1 from ${sql.table(origin.table)} where ${same} and ${fits(origin, used, $)})`;
}

/** Whether a row of the list is in its scope and fits the filters. */
function fits(origin: Origin, used: readonly Used[], $: Parameter): RawBuilder<unknown> {
  const conditions = used.map(([filter, condition]) => {
    if (!isSource(condition)) return condition(valuesOf(filter, $));
    const { table, column } = condition;
    const found = and([...inScope(table, origin, $), condition.condition(valuesOf(filter, $))]);
    return sql`${ref(origin.table, origin.order)} in (select ${sql.ref(column)} from ${sql.table(table)} where ${found})`;
  });
  return and([...inScope(origin.table, origin, $), ...conditions]);
}

const inScope = (table: string, { scope }: Origin, $: Parameter) =>
  scope.map(({ column, field }) => sql`${ref(table, column)} = ${$(field)}`);

const isSource = (condition: Condition | Source): condition is Source => typeof condition === 'object';

/** The parameters that carry the values of filters, by name. */
export function named(filters: Filters<string> = {}): Readonly<Record<string, SqlValue | undefined>> {
  return Object.fromEntries(
    Object.entries(filters).flatMap(([filter, value]) =>
      (Array.isArray(value) ? value : [value]).map((one, place) => [valueName(filter, place), one]),
    ),
  );
}

const valuesOf = (filter: string, $: Parameter): Values =>
  Object.assign((place = 0) => $(valueName(filter, place)), { scope: $ });

const valueName = (filter: string, place: number): string => `filter.${filter}.${place}`;

const ref = (table: string, column: string) => sql.ref(`${table}.${column}`);

const and = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> => sql.join(conditions, sql` and `);
