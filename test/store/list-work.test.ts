import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '../../faults/random.ts';
import type { Connection } from '../../src/store/engine/driver.ts';
import { sql } from '../../src/store/engine/sql.ts';
import type { Page } from '../../src/store/lists.ts';
import { engines, type TestDatabase } from '../support/engines.ts';
import { fillLists, idOf, SIZE } from '../support/filled-lists.ts';
import { type AnyList, type FilterValue, lists } from '../support/lists.ts';
import { type Meter, openMeter } from '../support/row-meter.ts';

/** How often all filters together may read each row that the widest of them reads alone: once more for each of them. */
const MAX_TIMES = 6;

/** How often a filter alone may read each row of the tables that it looks in. */
const MAX_TIMES_ALONE = 8;

/** Triples of filters of a list that are tried; all of them in a long run. */
const MAX_TRIPLES = process.env.LKM_ALL_LISTS === undefined ? 150 : Number.POSITIVE_INFINITY;

const pagesOf = ({ middle }: AnyList): readonly (Page | 'count')[] => [
  { limit: 2 },
  { limit: 2, after: middle },
  { limit: 2, offset: SIZE / 2 },
  { limit: SIZE },
  'count',
];

type Combination = readonly FilterValue[];

/** All pairs of filters that can be asked for together, and triples among them. */
function combinationsOf(filters: Combination): Combination[] {
  const wider = (narrower: readonly Combination[]) =>
    narrower.flatMap((some) =>
      filters
        .slice(filters.indexOf(some.at(-1) as FilterValue) + 1)
        .flatMap((one) =>
          one[1] !== 'metadata' && some.some(([, field]) => field === one[1]) ? [] : [[...some, one]],
        ),
    );
  const pairs = wider(filters.map((one) => [one]));
  const triples = wider(pairs);
  const random = createRandom(26);
  while (triples.length > MAX_TRIPLES) triples.splice(random.below(triples.length), 1);
  return [...pairs, ...triples];
}

function valuesOf(filters: Combination): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [, field, value] of filters) {
    const before = values[field];
    values[field] = field === 'metadata' && Array.isArray(before) ? before.concat(value) : value;
  }
  return values;
}

/** What a list reads too much of: a filter alone for the rows there are, or some filters together for one of them. */
async function tooMuch(list: AnyList, meter: Meter): Promise<string[]> {
  const rowsOf = async (filters: Combination): Promise<[page: string, rows: number][]> => {
    const found: [string, number][] = [];
    for (const page of pagesOf(list)) {
      const rows = await meter.rowsOf((connection) => list.read(connection, valuesOf(filters), page));
      found.push([JSON.stringify(page), rows]);
    }
    return found;
  };
  const problems: string[] = [];
  const check = (filters: Combination, found: readonly [page: string, rows: number][], most: number) => {
    const names = filters.map(([name]) => name).join(' + ');
    for (const [page, rows] of found) {
      if (rows > most) problems.push(`${names} ${page}: ${rows} rows, of at most ${most}`);
    }
  };
  const alone = new Map<FilterValue, number>();
  check([], await rowsOf([]), MAX_TIMES_ALONE * SIZE);
  for (const filter of list.filters) {
    const found = await rowsOf([filter]);
    check([filter], found, MAX_TIMES_ALONE * SIZE);
    alone.set(filter, Math.max(...found.map(([, rows]) => rows)));
  }
  for (const filters of combinationsOf(list.filters)) {
    const widest = Math.max(...filters.map((filter) => alone.get(filter) ?? 0));
    check(filters, await rowsOf(filters), MAX_TIMES * widest);
  }
  return problems;
}

/** A list of keys with an end and metadata, whose sub-query takes the end from each row outside of it. */
const correlated: AnyList = {
  name: 'keys',
  filters: [
    ['end', 'end', true],
    ['plan', 'plan', true],
  ],
  middle: '',
  async read(connection: Connection, { end, plan }) {
    const source = plan === undefined ? sql`licenses` : sql`license_metadata`;
    const id = plan === undefined ? sql`licenses.id` : sql`license_metadata.license_id`;
    const hasEnd = sql`exists (select 1 from licenses as l where l.account_id = 'acc_1' and l.id = ${id} and l.expires_at > '')`;
    const order = end === undefined ? id : sql`${id} || expires_at`;
    const found = sql`select ${id} from ${source} where ${hasEnd} order by ${order} limit 2`;
    // Of some rows only, so that the slow one is soon at its end.
    const last = idOf('lic', SIZE / 50);
    const query = sql`select * from licenses where account_id = 'acc_1' and id < ${last} and id in (${found})`;
    await connection.all(query);
  },
};

/** A list of keys with a filter that counts those before each row. */
const quadratic: AnyList = {
  ...correlated,
  filters: [['rank', 'rank', true]],
  async read(connection, { rank }) {
    const before = sql`(select count(*) from licenses as other where other.id < licenses.id)`;
    const query = sql`select id from licenses where ${rank === undefined ? sql`1 = 1` : sql`${before} > 5`} limit 500`;
    await connection.all(query);
  },
};

describe.each(engines)('a list on $name', { timeout: 300_000 }, (engine) => {
  let database: TestDatabase;
  let meter: Meter;

  beforeAll(async () => {
    database = await engine.createDatabase();
    await fillLists(database);
    // What the server does by itself, after a while.
    if (engine.name === 'PostgreSQL') await database.query('vacuum analyze');
    meter = await openMeter(database.location);
  }, 120_000);

  afterAll(async () => {
    await meter.close();
    await database[Symbol.asyncDispose]();
  });

  it.each(lists)('of $name reads no more rows for some filters together than for one of them', async (list) => {
    expect(await tooMuch(list, meter)).toEqual([]);
  });

  // PostgreSQL knows how many keys a filter leaves, and may read those first.
  it.runIf(engine.name === 'SQLite')('of keys reads only those of a customer, whatever else is asked for', async () => {
    const [keys] = lists as [AnyList];
    const few: FilterValue = ['customer of one key', 'customerId', idOf('cus', 4_001)];
    for (const filter of keys.filters.filter(([, field]) => field !== 'customerId' && field !== 'text')) {
      for (const page of pagesOf(keys)) {
        const rows = await meter.rowsOf((connection) => keys.read(connection, valuesOf([few, filter]), page));
        expect(rows, filter[0]).toBeLessThan(10);
      }
    }
  });

  it.runIf(engine.name === 'SQLite')('of keys reads what leaves few keys once, and not for each product', async () => {
    const [keys] = lists as [AnyList];
    const [products] = keys.filters.filter(([name]) => name === 'two products') as [FilterValue];
    for (const few of keys.filters.filter(([name]) => ['trial', 'floating', 'blocked', 'revoked'].includes(name))) {
      for (const page of pagesOf(keys)) {
        const rowsOf = (filters: Combination) =>
          meter.rowsOf((connection) => keys.read(connection, valuesOf(filters), page));
        expect(await rowsOf([products, few]), few[0]).toBeLessThanOrEqual(await rowsOf([few]));
      }
    }
  });

  it('that is slow is found: a filter alone, and two that are slow only together', async () => {
    expect(await tooMuch(quadratic, meter)).toEqual(pagesOf(quadratic).map(() => expect.stringMatching(/^rank /)));
    expect((await tooMuch(correlated, meter)).join('\n')).toMatch(/^end \+ plan /);
  });
});
