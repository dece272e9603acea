import { type RawBuilder, sql } from 'kysely';
import type { Connection } from './engine/driver.ts';
import { dynamicStatement, type SqlValue, type Statement } from './engine/statement.ts';
import { type Columns, columnOf, type RowOf, type Table } from './table.ts';

/** Which part of a list is wanted: at most `limit` rows, those behind the row `after`, without the first `offset` of them. */
export interface Page {
  readonly after?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit: number;
}

/** A condition on the rows of a list, for a value that the database knows. */
export type Condition = (value: SqlValue) => RawBuilder<unknown>;

/** The values of a list's conditions; one that is undefined is not applied. */
export type Filters<F extends string> = { readonly [name in F]?: SqlValue | undefined };

/** By field: the account, and what else the rows of a list have in common. */
export type Scope<S extends string> = { readonly [field in S]: SqlValue };

/** How the lists of a table are made. */
export interface ListSpec<S extends string, F extends string> {
  /** The fields that every list is held to. */
  readonly scope: readonly S[];
  /** The field that rows are sorted by; its values are unique in their scope. */
  readonly order: string;
  readonly conditions: Readonly<Record<F, Condition>>;
}

/** The lists of one table. */
export interface Lists<C extends Columns, S extends string, F extends string> {
  /** The rows of a page. */
  page(db: Connection, scope: Scope<S>, page: Page, filters?: Filters<F>): Promise<RowOf<C>[]>;
  /** How many rows there are on all pages. */
  count(db: Connection, scope: Scope<S>, filters?: Filters<F>): Promise<number>;
  /** All rows, a batch at a time: memory does not grow with the list. A row added meanwhile may or may not be among them. */
  walk(db: Connection, scope: Scope<S>, filters?: Filters<F>): AsyncGenerator<RowOf<C>[]>;
  /** All rows at once, in no order, for lists that are short as a rule. */
  all(db: Connection, scope: Scope<S>): Promise<RowOf<C>[]>;
}

const BATCH_SIZE = 500;

/** Makes the lists of a table: a statement is built for each set of filters that is used, once. */
export function listsOf<C extends Columns, S extends string, F extends string = never>(
  { name, columns }: Table<C>,
  { scope: scopeFields, order, conditions }: ListSpec<S, F>,
): Lists<C, S, F> {
  const table = sql.table(name);
  const orderColumn = columnOf(columns, order);
  const by = sql.ref(orderColumn);
  const filterNames = Object.keys(conditions) as F[];
  const known = new Map<string, Statement<object, never>>();

  /** The statement for these conditions. The names of its parameters keep scope, filters and page apart. */
  function find<R>(kind: string, filters: Filters<F> | undefined, build: Build): Statement<object, R> {
    const used = filters === undefined ? [] : filterNames.filter((filter) => filters[filter] !== undefined);
    const id = used.length === 0 ? kind : `${kind} ${used.join()}`;
    const found = known.get(id);
    if (found !== undefined) return found;
    const made = dynamicStatement<object, never>((db, $) => {
      const where = [
        ...scopeFields.map((field) => sql`${sql.ref(columnOf(columns, field))} = ${$(field)}`),
        ...used.map((filter) => conditions[filter]($(filterName(filter)))),
      ];
      return { compile: () => build(sql.join(where, sql` and `), $).compile(db) };
    });
    known.set(id, made);
    return made;
  }

  const first: Build = (where, $) =>
    sql`select * from ${table} where ${where} order by ${by} limit ${$(LIMIT)} offset ${$(OFFSET)}`;
  const next: Build = (where, $) => first(sql`${where} and ${by} > ${$(AFTER)}`, $);
  const total: Build = (where) => sql`select count(*) as count from ${table} where ${where}`;
  // Without a limit: SQLite prepares a statement anew whenever the value of its limit is bound, which takes ten look-ups.
  const every: Build = (where) => sql`select * from ${table} where ${where}`;

  async function* walk(db: Connection, scope: Scope<S>, filters?: Filters<F>): AsyncGenerator<RowOf<C>[]> {
    let after: string | undefined;
    for (;;) {
      const rows = await page(db, scope, { after, limit: BATCH_SIZE }, filters);
      if (rows.length > 0) yield rows;
      if (rows.length < BATCH_SIZE) return;
      after = orderOf(rows.at(-1));
    }
  }

  function page(db: Connection, scope: Scope<S>, { after, offset = 0, limit }: Page, filters?: Filters<F>) {
    const statement =
      after === undefined ? find<RowOf<C>>('first', filters, first) : find<RowOf<C>>('next', filters, next);
    return db.all(statement, { ...scope, ...named(filters), [AFTER]: after, [OFFSET]: offset, [LIMIT]: limit });
  }

  const orderOf = (row: object | undefined): string =>
    String((row as Readonly<Record<string, SqlValue>> | undefined)?.[orderColumn]);

  return {
    page,
    walk,
    async count(db, scope, filters) {
      const row = await db.first(find<{ count: unknown }>('count', filters, total), { ...scope, ...named(filters) });
      return Number(row?.count ?? 0);
    },
    all: (db, scope) => db.all(find<RowOf<C>>('all', undefined, every), scope),
  };
}

type Build = (where: RawBuilder<unknown>, $: (name: string) => SqlValue) => RawBuilder<unknown>;

const [AFTER, OFFSET, LIMIT] = ['page.after', 'page.offset', 'page.limit'] as const;

const filterName = (filter: string): string => `filter.${filter}`;

function named(filters: Filters<string> | undefined): Readonly<Record<string, SqlValue | undefined>> | undefined {
  if (filters === undefined) return undefined;
  return Object.fromEntries(Object.entries(filters).map(([name, value]) => [filterName(name), value]));
}
