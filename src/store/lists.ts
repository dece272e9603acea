import type { Connection } from './engine/driver.ts';
import { and, join, raw, type Sql, type SqlValue, sql, unionOf } from './engine/sql.ts';
import { type Columns, countOf, type Row } from './table.ts';

/** A part of a list: at most `limit` rows after the row `after`, without the first `offset` of them. */
export interface Page {
  readonly after?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit: number;
}

/** The fields that all rows of a list have in common, such as the account. */
export type Scope = Readonly<Record<string, SqlValue>>;

export interface List<T> {
  part(page: Page): Promise<T[]>;
  /** How many there are on all pages. */
  count(): Promise<number>;
  /** All rows, read in batches. Rows added meanwhile may or may not be included. */
  all(): AsyncGenerator<T>;
  map<U>(show: (item: T) => U | Promise<U>): List<U>;
}

/** The filters of a list. */
export interface Filters {
  /** Conditions that each row meets; columns are named with their tables. */
  readonly conditions?: readonly Sql[] | undefined;
  /** Mutually exclusive conditions; each row meets one of them. Each condition has its own index. */
  readonly either?: readonly Sql[] | undefined;
  /** A query for the ids of few rows, in a column `id`, possibly with duplicates. */
  readonly found?: Sql | undefined;
}

/** The parts of a query for the rows of a list, which is sorted by `by`: rows meet one of the conditions in `either`. */
interface Selection {
  readonly from: Sql;
  readonly by: Sql;
  readonly either: readonly Sql[];
}

/**
 * So large a limit, and `is true`, keep planners from joining the found rows with the rest of the list: they would guess the
 * number of found rows, and may read all found rows for each row of the list.
 */
const WITHOUT_LIMIT = raw(`limit ${Number.MAX_SAFE_INTEGER}`);

interface ListedTable<T> {
  readonly name: string;
  readonly columns: Columns;
  read(row: Row): T;
}

/** Columns of other tables for each row `listed`, and the joins, which leave no row out. */
export interface Beside {
  readonly columns: Sql;
  readonly joins: Sql;
}

const BATCH_SIZE = 500;

/**
 * Makes the lists of a table.
 *
 * @param order the field that rows are sorted by; its values are unique in their scope
 */
export function listsOf<T>(
  { name, columns, read }: ListedTable<T>,
  order: string,
  { descending = false, beside }: { readonly descending?: boolean; readonly beside?: Beside } = {},
) {
  const columnOf = (field: string): string => {
    const column = columns[field];
    if (column === undefined) throw new TypeError(`no column keeps ${field}`);
    return column.name;
  };
  const orderColumn = columnOf(order);
  const table = raw(name);
  const direction = raw(descending ? 'desc' : 'asc');
  const orderBy = raw(`${name}.${orderColumn}`);
  const all = beside === undefined ? raw('listed.*') : sql`listed.*, ${beside.columns}`;
  const source = beside === undefined ? sql`${table} as listed` : sql`${table} as listed ${beside.joins}`;
  const inScope = (scope: Scope, alias = name) =>
    Object.entries(scope).map(([field, value]) => sql`${raw(`${alias}.${columnOf(field)}`)} = ${value}`);

  function select(scope: Scope, { conditions = [], either, found }: Filters): Selection {
    const own = [...inScope(scope), ...conditions];
    const each = either?.map((one) => and([...own, one])) ?? [and(own)];
    if (found === undefined) return { from: table, by: orderBy, either: each };
    const by = raw('found.id');
    return {
      from: sql`(select distinct one.id from (${found}) as one ${WITHOUT_LIMIT}) as found`,
      by,
      either: [sql`exists (select 1 from ${table} where ${orderBy} = ${by} and (${join(each, ' or ')})) is true`],
    };
  }

  function rowsOf(db: Connection, scope: Scope, page: Page, filters: Filters): Promise<Row[]> {
    const { from, by, either } = select(scope, filters);
    const isAfter = page.after === undefined ? [] : [sql`${by} ${raw(descending ? '<' : '>')} ${page.after}`];
    // An index is mostly enough to find and to sort rows; only the rows of the page are read whole. These have an alias of
    // their own: so a column that the inner statement lacks is an error, and is not taken from the outer rows.
    const own = raw(`listed.${orderColumn}`);
    const ids = sql`
      ${join(
        either.map((where) => sql`select ${by} from ${from} where ${and([where, ...isAfter])}`),
        ' union all ',
      )}
      order by 1 ${direction} limit ${page.limit} offset ${page.offset ?? 0}`;
    return db.all(sql`
      select ${all} from ${source} where ${and([...inScope(scope, 'listed'), sql`${own} in (${ids})`])}
      order by ${own} ${direction}`);
  }

  function count(db: Connection, scope: Scope, filters: Filters): Promise<number> {
    const { from, by, either } = select(scope, filters);
    // The bound, which all rows meet, keeps SQLite from looking up each row by an index of another order.
    const bound = filters.conditions === undefined ? [] : [sql`${by} > ''`];
    const each = either.map((where) => sql`select 1 from ${from} where ${and([where, ...bound])}`);
    return countOf(db, sql`(${unionOf(each)}) as each_row`);
  }

  function list<U>(db: Connection, scope: Scope, filters: Filters, show: (record: T) => U | Promise<U>): List<U> {
    const showAll = (rows: readonly Row[]) => Promise.all(rows.map((row) => show(read(row))));
    return {
      part: async (page) => showAll(await rowsOf(db, scope, page, filters)),
      count: () => count(db, scope, filters),
      async *all() {
        for (let after: string | undefined; ; ) {
          const rows = await rowsOf(db, scope, { after, limit: BATCH_SIZE }, filters);
          yield* await showAll(rows);
          if (rows.length < BATCH_SIZE) return;
          after = String(rows.at(-1)?.[orderColumn]);
        }
      },
      map: (further) => list(db, scope, filters, async (record) => further(await show(record))),
    };
  }

  return {
    /** The list of the rows that have the fields of the scope and fit the filters. */
    of: (db: Connection, scope: Scope, filters: Filters = {}): List<T> => list(db, scope, filters, (record) => record),
  };
}
