import type { Connection } from './engine/driver.ts';
import { and, join, raw, type Sql, type SqlValue, sql } from './engine/sql.ts';
import { type Filter, type Listed, type Selection, selectionOf, withGroups } from './list-filters.ts';
import type { Columns, Row } from './table.ts';

/** Which part of a list is wanted: at most `limit` rows, those after the row `after`, without the first `offset` of them. */
export interface Page {
  readonly after?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit: number;
}

/** By field: the account, and what else the rows of a list have in common. */
export type Scope = Readonly<Record<string, SqlValue>>;

/** The rows that fit these filters are counted, and added to a sum or taken off it. */
export interface Term {
  readonly filters: readonly Filter[];
  readonly isTakenOff: boolean;
}

export interface List<T> {
  part(page: Page): Promise<T[]>;
  /** How many there are on all pages. */
  count(): Promise<number>;
  /** All of them, read a batch at a time. One that is added meanwhile may or may not be among them. */
  all(): AsyncGenerator<T>;
  map<U>(show: (item: T) => U | Promise<U>): List<U>;
}

interface ListedTable<T> {
  readonly name: string;
  readonly columns: Columns;
  read(row: Row): T;
}

const BATCH_SIZE = 500;

/**
 * Makes the lists of a table.
 *
 * @param order the field that rows are sorted by; its values are unique in their scope
 */
export function listsOf<T>({ name, columns, read }: ListedTable<T>, order: string, { descending = false } = {}) {
  const columnOf = (field: string): string => {
    const column = columns[field];
    if (column === undefined) throw new TypeError(`no column keeps ${field}`);
    return column.name;
  };
  const orderColumn = columnOf(order);
  const direction = raw(descending ? 'desc' : 'asc');
  const listed = (scope: Scope): Listed => ({
    table: name,
    order: orderColumn,
    scope: Object.entries(scope).map(([field, value]) => [columnOf(field), value] as const),
  });

  async function rowsOf(db: Connection, scope: Scope, page: Page, filters: readonly Filter[]): Promise<Row[]> {
    const list = listed(scope);
    const selection = selectionOf(list, await withGroups(db, list, filters));
    const { source, from, orderBy, where, parts } =
      page.after === undefined ? selection : behind(selection, page.after);
    const range = sql`limit ${page.limit} offset ${page.offset ?? 0}`;
    if (source === 'list' && parts.length === 1) {
      return db.all(sql`select * from ${from} where ${where} order by ${orderBy} ${direction} ${range}`);
    }
    // What an index holds is enough to find rows and to sort them; only those of the page are read whole. They have a name
    // of their own: a column that the statement within lacks is a mistake there, and not taken from each row out here.
    const own = raw(`listed.${orderColumn}`);
    const inScope = list.scope.map(([column, value]) => sql`${raw(`listed.${column}`)} = ${value}`);
    const found = inOrder({ source, from, orderBy, where, parts });
    return db.all(sql`
      select listed.* from ${raw(name)} as listed where ${and([...inScope, sql`${own} in (${found} ${range})`])}
      order by ${own} ${direction}`);
  }

  function behind(selection: Selection, after: string): Selection {
    const isBehind = sql`${selection.orderBy} ${raw(descending ? '<' : '>')} ${after}`;
    const parts = selection.parts.map((part) => sql`${part} and ${isBehind}`);
    return { ...selection, where: sql`${selection.where} and ${isBehind}`, parts };
  }

  function inOrder({ source, from, orderBy, where, parts }: Selection): Sql {
    const find = (condition: Sql) => sql`select ${orderBy} from ${from} where ${condition}`;
    if (source === 'elsewhere' || parts.length === 0) return sql`${find(where)} order by ${orderBy} ${direction}`;
    // Each part in order by itself: only so does PostgreSQL merge them, and read them as far as the page goes.
    const sorted = parts.map(
      (part) => sql`select part.${raw(orderColumn)} from (${find(part)} order by ${orderBy} ${direction}) as part`,
    );
    return sql`${join(sorted, ' union all ')} order by ${raw(orderColumn)} ${direction}`;
  }

  /** The sum of some counts, less others, of one state of the database. */
  async function sum(db: Connection, scope: Scope, terms: readonly Term[]): Promise<number> {
    const counts = terms.map(({ filters, isTakenOff }) => {
      const { from, where } = selectionOf(listed(scope), filters);
      return sql`${raw(isTakenOff ? '-' : '+')} (select count(*) from ${from} where ${where})`;
    });
    const row = await db.first<{ count: unknown }>(sql`select 0 ${join(counts, ' ')} as count`);
    return Number(row?.count ?? 0);
  }

  function list<U>(
    db: Connection,
    scope: Scope,
    filters: readonly Filter[],
    show: (record: T) => U | Promise<U>,
  ): List<U> {
    const showAll = (rows: readonly Row[]) => Promise.all(rows.map((row) => show(read(row))));
    return {
      part: async (page) => showAll(await rowsOf(db, scope, page, filters)),
      count: () => sum(db, scope, [{ filters, isTakenOff: false }]),
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
    sum,
    /** The list of the rows that have the fields of the scope and fit the filters. */
    of: (db: Connection, scope: Scope, filters: readonly Filter[] = []): List<T> =>
      list(db, scope, filters, (record) => record),
  };
}
