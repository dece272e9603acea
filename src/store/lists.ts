import { type RawBuilder, sql } from 'kysely';
import type { Connection } from './engine/driver.ts';
import { dynamicStatement, type SqlValue, type Statement } from './engine/statement.ts';
import {
  type Condition,
  type Filters,
  named,
  type Parameter,
  type Selection,
  type Source,
  selectionOf,
} from './list-filters.ts';
import { createRecent } from './recent.ts';
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
  readonly conditions: Readonly<Record<F, Condition | Source>>;
  /** Filters whose rows are found in the order of another field, or in none: they are sorted once they are found. */
  readonly sorted?: Readonly<Partial<Record<NoInfer<F>, string | null>>>;
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

/** Statements that a table remembers: callers choose the filters, of which there are thousands of combinations. */
const MAX_STATEMENTS = 200;

/** Makes the lists of a table: a statement is built for each set of filters that is used, once. */
export function listsOf<C extends Columns, S extends string, F extends string = never>(
  { name, columns }: Table<C>,
  { scope: scopeFields, order, descending = false, conditions, sorted }: ListSpec<S, F>,
): Lists<C, S, F> {
  const orderColumn = columnOf(columns, order);
  const scope = scopeFields.map((field) => ({ field, column: columnOf(columns, field) }));
  const filterNames = Object.keys(conditions) as F[];
  const known = createRecent<Statement<object, never>>(MAX_STATEMENTS);

  /** The statement for these conditions. The names of its parameters keep scope, filters and page apart. */
  function find<R>(kind: string, filters: Filters<F> | undefined, build: Build): Statement<object, R> {
    const used = filters === undefined ? [] : filterNames.filter((filter) => filters[filter] !== undefined);
    const id = used.length === 0 ? kind : `${kind} ${used.join()}`;
    const found = known.get(id);
    if (found !== undefined) return found;
    const place = placeOf(used);
    const made = dynamicStatement<object, never>((db, $) => {
      const selection = selectionOf(
        { table: name, order: orderColumn, scope },
        used.map((filter) => [filter, conditions[filter]]),
        $,
      );
      return { compile: () => build(selection, { $, place }).compile(db) };
    });
    known.set(id, made);
    return made;
  }

  const all = sql`select * from ${sql.table(name)}`;
  const direction = descending ? sql`desc` : sql`asc`;

  /** Where the rows that fit are found, and in which order. */
  function placeOf(used: readonly F[]): Place {
    const found = used.map((filter) => sorted?.[filter]).filter((field) => field !== undefined);
    if (found.length === 0) return used.some((filter) => typeof conditions[filter] === 'object') ? 'source' : 'list';
    const field = found.find((one) => one !== null) ?? null;
    return { inOrderOf: field === null ? null : columnOf(columns, field) };
  }

  const first: Build = ({ from, by, where }, { $, place }) => {
    const part = sql`limit ${$(LIMIT)} offset ${$(OFFSET)}`;
    if (place === 'list') return sql`${all} where ${where} order by ${by} ${direction} ${part}`;
    const own = scope.map(({ column, field }) => sql`${sql.ref(column)} = ${$(field)}`);
    // What an index holds is enough to find rows and to sort them; only those of the page are read whole.
    const found = sql`select ${by} from ${from} where ${where}`;
    const listed = sql.join(
      [...own, sql`${sql.ref(orderColumn)} in (${inOrder(found, by, place)} ${part})`],
      sql` and `,
    );
    return sql`${all} where ${listed} order by ${sql.ref(orderColumn)} ${direction}`;
  };

  function inOrder(found: RawBuilder<unknown>, by: RawBuilder<unknown>, place: Place): RawBuilder<unknown> {
    if (typeof place === 'string') return sql`${found} order by ${by} ${direction}`;
    // As an expression, so that no planner reads the whole list in its order for the few rows that an index finds.
    if (place.inOrderOf === null) return sql`${found} order by (${by} || '') ${direction}`;
    // In a query of its own, for the same reason. What comes last in one order mostly comes last in the other: a sort that
    // keeps as many rows as a page has then finds them early, and only compares all others.
    const first = sql`${found} order by ${sql.ref(place.inOrderOf)} ${direction} limit ${sql.lit(Number.MAX_SAFE_INTEGER)}`;
    return sql`select ${sql.ref(orderColumn)} from (${first}) as found order by ${sql.ref(orderColumn)} ${direction}`;
  }

  const next: Build = (selection, options) => {
    const comparison = descending ? sql`<` : sql`>`;
    const where = sql`${selection.where} and ${selection.by} ${comparison} ${options.$(AFTER)}`;
    return first({ ...selection, where }, options);
  };
  const total: Build = ({ from, where }) => sql`select count(*) as count from ${from} where ${where}`;
  // Without a limit: SQLite prepares a statement anew whenever the value of its limit is bound, which takes ten look-ups.
  const every: Build = ({ where }) => sql`${all} where ${where}`;

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

type Build = (selection: Selection, options: BuildOptions) => RawBuilder<unknown>;

interface BuildOptions {
  readonly $: Parameter;
  readonly place: Place;
}

/** Rows are found in the list's own table, in another table in the same order, or in another order, if in any. */
type Place = 'list' | 'source' | { readonly inOrderOf: string | null };

const [AFTER, OFFSET, LIMIT] = ['page.after', 'page.offset', 'page.limit'] as const;
