import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { copyInstance, databaseStatus, migrateDatabase } from '../../src/operator/index.ts';
import { StartupError } from '../../src/store/errors.ts';
import { openStore } from '../../src/store/store.ts';
import { engines, newPlace } from '../support/engines.ts';
import { test as it } from '../support/fixtures.ts';
import { query } from '../support/postgres.ts';
import { createWorld } from '../support/world.ts';

const pairs = engines.flatMap((from) => engines.map((to) => ({ from, to: to.name })));

describe.each(pairs)('copying from $from.name to $to', ({ from, to }) => {
  it('moves every row, says how far it is, and can be served', async () => {
    await using world = await createWorld({ engine: from });
    const { id: productId } = await world.product();
    const licenseKey = await world.key({ productId, newCustomer: { name: 'Zoë', email: 'zoe@example.com' } });
    await world.activate({ productId, licenseKey }, 'h1', 'h2');
    const { rates: _, ...before } = await world.contents();
    await world.store.close();
    await using place = await newPlace(to);

    const steps: string[] = [];
    const copied = await copyInstance(world.location, place.location, ({ table, done, total }) =>
      steps.push(`${table} ${done}/${total}`),
    );

    expect(Object.fromEntries(copied.map(({ table, rows }) => [table, rows]))).toEqual(
      Object.fromEntries(Object.entries(before).map(([table, rows]) => [table, rows.length])),
    );
    expect(steps).toContain('devices 2/2');
    const store = await openStore(place.location);
    expect(
      (await store.repositories.customers.list(world.accounts.acme).part({ limit: 9 })).map(({ email }) => email),
    ).toEqual(['zoe@example.com']);
    await store.close();
  });

  it('moves each row of a table once that takes several batches', async () => {
    await using world = await createWorld({ engine: from });
    await world.sql(`
      insert into products (account_id, id, name, active, created_at, updated_at)
      select '${world.accounts.acme}', 'prod_' || i, 'Editor', 1, '2026-11-21T10:00:00.000Z', '2026-11-21T10:00:00.000Z'
      from (with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < 2500)
            select i from numbers) as numbered`);
    await world.store.close();
    await using place = await newPlace(to);
    const copied = await copyInstance(world.location, place.location, () => {});
    expect(copied.find(({ table }) => table === 'products')?.rows).toBe(2_500);
  });

  it('can be ended at any moment, and the target then holds nothing', async () => {
    await using world = await createWorld({ engine: from });
    await world.product();
    await world.store.close();
    await using place = await newPlace(to);
    const stop = new AbortController();
    const copying = copyInstance(
      world.location,
      place.location,
      // A signal of the system arrives as this does: when the event loop gets to it.
      ({ table }) => table === 'products' && setImmediate(() => stop.abort(new Error('stopped'))),
      stop.signal,
    );
    await expect(copying).rejects.toThrow('stopped');
    const store = await openStore(place.location);
    expect(await store.repositories.accounts.oldest()).toBeNull();
    await store.close();
  });

  it('refuses a target that holds an instance already', async () => {
    await using world = await createWorld({ engine: from });
    await world.store.close();
    await using place = await newPlace(to);
    await copyInstance(world.location, place.location, () => {});
    await expect(copyInstance(world.location, place.location, () => {})).rejects.toThrow(StartupError);
  });
});

/** What the target does to a row that it is given, as a trigger of each engine. */
const corruptions = [
  {
    what: 'a value is not the same',
    SQLite: [
      `create trigger corrupt after insert on customers begin update customers set name = 'x' where id = new.id; end`,
    ],
    PostgreSQL: `new.name := 'x'; return new;`,
  },
  {
    what: 'a row is missing',
    SQLite: ['create trigger corrupt after insert on customers begin delete from customers where id = new.id; end'],
    PostgreSQL: 'return null;',
  },
];

describe.each(
  engines.flatMap((engine) => corruptions.map((corruption) => ({ engine, corruption, what: corruption.what }))),
)('a copy on $engine.name in which $what', ({ engine, corruption }) => {
  it('is refused, and nothing of it is kept', async ({ world }) => {
    await world.customer();
    await world.store.close();
    await using place = await newPlace(engine.name);
    await migrateDatabase(place.location);
    const sql =
      engine.name === 'SQLite'
        ? corruption.SQLite
        : [
            `create function corrupt() returns trigger language plpgsql as $$ begin ${corruption.PostgreSQL} end $$`,
            'create trigger corrupt before insert on customers for each row execute function corrupt()',
          ];
    for (const statement of sql) await runSql(place.location, statement);

    await expect(copyInstance(world.location, place.location, () => {})).rejects.toMatchObject({
      name: 'StartupError',
      message: 'customers changed while it was copied',
    });
    expect(await runSql(place.location, 'select * from accounts')).toEqual([]);
  });
});

async function runSql(location: string, sql: string): Promise<unknown[]> {
  if (location.startsWith('postgres:')) return query(location, sql);
  const database = new DatabaseSync(location);
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

describe.each(engines)('the schema of a database on $name', (engine) => {
  it('is pending until it is migrated, and then done', async () => {
    await using place = await newPlace(engine.name);
    if (engine.name === 'SQLite') {
      await expect(databaseStatus(place.location)).rejects.toThrow('does not exist');
      const empty = new DatabaseSync(place.location);
      empty.exec('create table lkm_migrations (name text primary key, fingerprint text)');
      empty.close();
    }
    const before = await databaseStatus(place.location);
    expect(before).toMatchObject({ engine: engine.name, done: [], unknown: [] });
    expect(await migrateDatabase(place.location)).toEqual(before.pending);
    expect(await databaseStatus(place.location)).toMatchObject({ done: before.pending, pending: [] });
    expect(await migrateDatabase(place.location)).toEqual([]);
  });
});
