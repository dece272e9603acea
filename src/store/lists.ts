import { type RawBuilder, sql } from 'kysely';
import type { Connection } from './engine/driver.ts';
import { dynamicStatement, type Parameter, type SqlValue, type Statement } from './engine/statement.ts';
import {
  type AnyCondition,
  type Filters,
  named,
  type Origin,
  type Selection,
  selectionOf,
  type Used,
} from './list-filters.ts';
import { remember } from './recent.ts';
import { type Columns, columnOf, type RowOf, type Table } from './table.ts';

/** Which part of a list is wanted: at most `limit` rows, those after the row `after`, without the first `offset` of them. */
export interface Page {
  readonly after?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit: number;
}

/** By field: the account, and what else the rows of a list have in common. */
export type Scope<S extends string> = { readonly [field in S]: SqlValue };

/** How the lists of a table are made. */
export interface ListSpec<S extends string, F extends string> {
  /** The fields that every list is limited to. */
  readonly scope: readonly S[];
  /** The field that rows are sorted by; its values are unique in their scope. */
  readonly order: string;
  /** Whether the row with the last value comes first. */
  readonly descending?: boolean;
  readonly conditions: Readonly<Record<F, AnyCondition>>;
  /** Filters whose rows are found in the order of another field: they are sorted once they are found. */
  readonly sorted?: Readonly<Partial<Record<NoInfer<F>, string>>>;
}

/** One count of a sum. */
export interface Term<F extends string> {
  readonly filters: Filters<F>;
  readonly isTakenOff: boolean;
}

const BATCH_SIZE = 500;

/** Statements that a table remembers: callers choose the filters, of which there are thousands of combinations. */
const MAX_STATEMENTS = 200;

/** Makes the lists of a table: a statement is built for each set of filters that is used, once. */
export function listsOf<C extends Columns, T, S extends string, F extends string = never>(
  { name, columns }: Table<C>,
  read: (row: RowOf<C>) => T,
  { scope: scopeFields, order, descending = false, conditions, sorted }: ListSpec<S, F>,
) {
  const orderColumn = columnOf(columns, order);
  const scope = scopeFields.map((field) => ({ field, column: columnOf(columns, field) }));
  const sortedColumns = Object.entries<string | undefined>(sorted ?? {}).flatMap(([filter, field]) =>
    field === undefined ? [] : [[filter, columnOf(columns, field)] as const],
  );
  const origin: Origin = { table: name, order: orderColumn, scope, sorted: Object.fromEntries(sortedColumns) };
  const filterNames = Object.keys(conditions) as F[];
  const remembered = remember<Statement<object, never>>(MAX_STATEMENTS);

  const usedOf = (filters: Filters<F> = {}): Used<F>[] =>
    filterNames.flatMap((filter): Used<F>[] => {
      const value = filters[filter];
      return value === undefined ? [] : [[filter, conditions[filter], Array.isArray(value) ? value.length : 1]];
    });

  /** The statement for these conditions. The names of its parameters keep scope, filters and page apart. */
  function find<R>(kind: string, filters: Filters<F> | undefined, build: Build): Statement<object, R> {
    const used = usedOf(filters);
    return statementOf(idOf(kind, used), ($) => build(selectionOf(origin, used, $), $));
  }

  const statementOf = <R>(id: string, build: ($: Parameter) => RawBuilder<unknown>): Statement<object, R> =>
    remembered(id, () => dynamicStatement<object, never>((db, $) => ({ compile: () => build($).compile(db) })));

  const idOf = (kind: string, used: readonly Used<F>[]): string =>
    used.length === 0 ? kind : `${kind} ${used.map(([filter, , count]) => `${filter}*${count}`).join()}`;

  const direction = descending ? sql`desc` : sql`asc`;

  const buildFirstPage: Build = (selection, $) => {
    const range = sql`limit ${$(LIMIT)} offset ${$(OFFSET)}`;
    const { source, from, orderBy, where, parts } = selection;
    if (source === 'list' && parts.length === 1) {
      return sql`select * from ${from} where ${where} order by ${orderBy} ${direction} ${range}`;
    }
    // What an index holds is enough to find rows and to sort them; only those of the page are read whole. They have a name
    // of their own: a column that the statement within lacks is a mistake there, and not taken from each row out here.
    const listed = (column: string) => sql.ref(`listed.${column}`);
    const inScope = scope.map(({ column, field }) => sql`${listed(column)} = ${$(field)}`);
    const found = sql`${listed(orderColumn)} in (${inOrder(selection)} ${range})`;
    const conditions = sql.join([...inScope, found], sql` and `);
    const rows = sql`select listed.* from ${sql.table(name)} as listed where ${conditions}`;
    return sql`${rows} order by ${listed(orderColumn)} ${direction}`;
  };

  function inOrder({ source, from, orderBy, where, parts }: Selection): RawBuilder<unknown> {
    const find = (condition: RawBuilder<unknown>) => sql`select ${orderBy} from ${from} where ${condition}`;
    const inListOrder = sql`order by ${sql.ref(orderColumn)} ${direction}`;
    if (source === 'list') {
      // Each part in order by itself: only so does PostgreSQL merge them, and read them as far as the page goes.
      const sorted = parts.map((part) => {
        const rows = sql`(${find(part)} order by ${orderBy} ${direction}) as part`;
        return sql`select part.${sql.ref(orderColumn)} from ${rows}`;
      });
      return sql`${sql.join(sorted, sql` union all `)} ${inListOrder}`;
    }
    const found = find(where);
    if (source === 'elsewhere') return sql`${found} order by ${orderBy} ${direction}`;
    // In a query of its own, so that no planner reads the whole list in its order for the few rows that an index finds. What comes last in one order mostly comes last in the other: a sort that
    // keeps as many rows as a page has then finds them early, and only compares all others.
    const sorted = sql`${found} order by ${source.inOrderOf} ${direction} limit ${sql.lit(Number.MAX_SAFE_INTEGER)}`;
    return sql`select found.${sql.ref(orderColumn)} from (${sorted}) as found ${inListOrder}`;
  }

  const buildNextPage: Build = (selection, $) => {
    const behind = sql`${selection.orderBy} ${descending ? sql`<` : sql`>`} ${$(AFTER)}`;
    const where = sql`${selection.where} and ${behind}`;
    const parts = selection.parts.map((part) => sql`${part} and ${behind}`);
    return buildFirstPage({ ...selection, where, parts }, $);
  };

  // Without a limit: SQLite prepares a statement anew whenever the value of its limit is bound, which takes ten look-ups.
  const buildAll: Build = ({ from, where }) => sql`select * from ${from} where ${where}`;

  function rowsOf(db: Connection, scope: Scope<S>, { after, offset = 0, limit }: Page, filters?: Filters<F>) {
    const statement =
      after === undefined
        ? find<RowOf<C>>('first', filters, buildFirstPage)
        : find<RowOf<C>>('next', filters, buildNextPage);
    return db.all(statement, { ...scope, ...named(filters), [AFTER]: after, [OFFSET]: offset, [LIMIT]: limit });
  }

  const orderOf = (row: object | undefined): string =>
    String((row as Readonly<Record<string, SqlValue>> | undefined)?.[orderColumn]);

  /** The sum of some counts, less others, of one state of the database. A filter has the same values in all of them. */
  async function sum(db: Connection, scope: Scope<S>, terms: readonly Term<F>[]): Promise<number> {
    const counted = terms.map(({ filters, isTakenOff }) => ({ used: usedOf(filters), sign: isTakenOff ? '-' : '+' }));
    const id = counted.map(({ used, sign }) => idOf(sign, used)).join(' ');
    const statement = statementOf<{ count: unknown }>(id, ($) => {
      const counts = counted.map(({ used, sign }) => {
        const { from, where } = selectionOf(origin, used, $);
        return sql`${sql.raw(sign)} (select count(*) from ${from} where ${where})`;
      });
      return sql`select 0 ${sql.join(counts, sql` `)} as count`;
    });
    const row = await db.first(statement, Object.assign({ ...scope }, ...terms.map(({ filters }) => named(filters))));
    return Number(row?.count ?? 0);
  }

  return {
    /** The records of a page. */
    page: async (db: Connection, scope: Scope<S>, page: Page, filters?: Filters<F>): Promise<T[]> =>
      (await rowsOf(db, scope, page, filters)).map(read),

    /** All records, read a batch at a time. One that is added meanwhile may or may not be among them. */
    async *walk(db: Connection, scope: Scope<S>, filters?: Filters<F>): AsyncGenerator<T> {
      for (let after: string | undefined; ; ) {
        const rows = await rowsOf(db, scope, { after, limit: BATCH_SIZE }, filters);
        yield* rows.map(read);
        if (rows.length < BATCH_SIZE) return;
        after = orderOf(rows.at(-1));
      }
    },

    sum,

    /** How many records there are on all pages. */
    count: (db: Connection, scope: Scope<S>, filters: Filters<F> = {}): Promise<number> =>
      sum(db, scope, [{ filters, isTakenOff: false }]),

    /** All records at once, in no order, for lists that are short as a rule. */
    all: async (db: Connection, scope: Scope<S>): Promise<T[]> =>
      (await db.all(find<RowOf<C>>('all', undefined, buildAll), scope)).map(read),
  };
}

type Build = (selection: Selection, $: Parameter) => RawBuilder<unknown>;

const [AFTER, OFFSET, LIMIT] = ['page.after', 'page.offset', 'page.limit'] as const;
