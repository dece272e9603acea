import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '../../faults/random.ts';
import type { Connection } from '../../src/store/engine/driver.ts';
import { sql } from '../../src/store/engine/sql.ts';
import type { Page } from '../../src/store/lists.ts';
import { engines, type TestDatabase } from '../support/engines.ts';
import { fillLists, idOf, SIZE } from '../support/filled-lists.ts';
import { type AnyList, type FilterValue, lists } from '../support/lists.ts';
import { type Meter, openMeter } from '../support/row-meter.ts';

/** How often filters may read each row of the tables that they look in: once for each of them, and for what finds a text. */
const MAX_TIMES = 8;

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

/** Where a list reads more rows than there are, several times: whatever it is asked for, one pass has to do. */
async function tooMuch(list: AnyList, meter: Meter): Promise<string[]> {
  const problems: string[] = [];
  for (const filters of [[], ...list.filters.map((one) => [one]), ...combinationsOf(list.filters)]) {
    const names = filters.map(([name]) => name).join(' + ');
    for (const page of pagesOf(list)) {
      const rows = await meter.rowsOf((connection) => list.read(connection, valuesOf(filters), page));
      if (rows > MAX_TIMES * SIZE) problems.push(`${names} ${JSON.stringify(page)}: ${rows} rows`);
    }
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

  it.each(lists)('of $name reads each row a few times at most, whatever it is asked for', async (list) => {
    expect(await tooMuch(list, meter)).toEqual([]);
  });

  it('that is slow is found: a filter alone, and two that are slow only together', async () => {
    expect(await tooMuch(quadratic, meter)).toEqual(pagesOf(quadratic).map(() => expect.stringMatching(/^rank /)));
    expect((await tooMuch(correlated, meter)).join('\n')).toMatch(/^end \+ plan /);
  });
});
