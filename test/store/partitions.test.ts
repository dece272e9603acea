import { randomUUID } from 'node:crypto';
import { Kysely, PostgresDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { partitionDatabase } from '../../src/operator/databases.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { partition } from '../../src/store/partition.ts';
import type { Tables } from '../../src/store/schema.ts';
import { openStore } from '../../src/store/store.ts';
import { lkm } from '../cli/fake-io.ts';
import { databaseUrl, query } from '../support/postgres.ts';

const server = inject('postgres');
const databases: string[] = [];

afterEach(async () => {
  for (const name of databases.splice(0)) await query(server, `drop database ${name} with (force)`);
});

/** A new database: without a schema, or with the newest one. */
async function newDatabase(isMigrated = true): Promise<string> {
  const name = `lkm_partitions_${randomUUID().replaceAll('-', '')}`;
  await query(server, `create database ${name}`);
  databases.push(name);
  const url = databaseUrl(server, name);
  if (isMigrated) await (await openStore(url)).close();
  return url;
}

/** Tables by how many partitions they have. */
async function partitionsOf(url: string): Promise<Record<string, string[]>> {
  const rows = await query(
    url,
    `select relname as table, (select count(*)::int from pg_inherits where inhparent = oid) as partitions from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  );
  return Object.fromEntries(
    Object.entries(Object.groupBy(rows, (row) => String(row.partitions))).map(([partitions, found = []]) => [
      partitions,
      found.map(({ table }) => String(table)),
    ]),
  );
}

/** Columns, constraints, indexes and rights of a schema, in which partitions do not show. */
async function schemaOf(url: string): Promise<unknown> {
  const of = `c.relnamespace = 'public'::regnamespace and not c.relispartition`;
  const columns = `select c.relname, attname, format_type(atttypid, atttypmod) as type, attnotnull,
      pg_get_expr(adbin, adrelid) as value from pg_attribute a join pg_class c on c.oid = attrelid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and not attisdropped and c.relkind in ('r', 'p') and ${of} order by 1, attnum`;
  const constraints = `select c.relname, conname, contype, pg_get_constraintdef(k.oid) as definition from pg_constraint k
      join pg_class c on c.oid = conrelid where contype <> 'n' and conparentid = 0 and ${of} order by 1, 2`;
  const indexes = `select c.relname, replace(pg_get_indexdef(c.oid), ' ON ONLY ', ' ON ') as definition from pg_class c
    where c.relkind in ('i', 'I') and ${of} order by 1`;
  return [await query(url, columns), await query(url, constraints), await query(url, indexes)];
}

const WHOLE = ['accounts', 'data_keys', 'kysely_migration', 'kysely_migration_lock', 'rates', 'tokens'];

const divide = (url: string, partitions: number) => partitionDatabase(url, partitions, () => {});

const insertCustomers = `
  insert into accounts (id, name, created_at) select 'acc_' || i, 'vendor ' || i, '' from generate_series(1, 20) i;
  insert into customers (account_id, id, name, active, created_at, updated_at)
    select 'acc_' || a, 'cus_' || i, 'Zoë', 1, '', '' from generate_series(1, 20) a, generate_series(1, 10) i`;

describe('a PostgreSQL database in partitions', { timeout: 120_000 }, () => {
  it('has every table of accounts divided, with the columns, constraints and indexes that it had', async () => {
    const url = await newDatabase();
    const before = await schemaOf(url);
    const { divided } = await divide(url, 4);
    expect(await partitionsOf(url)).toEqual({ 0: WHOLE, 4: divided.map(({ table }) => table) });
    expect(divided.map(({ table }) => table)).toEqual(expect.arrayContaining(['licenses', 'devices', 'events']));
    expect(await schemaOf(url)).toEqual(before);
  });

  it('keeps its rows, each account in one partition, and the rights of others', async () => {
    const url = await newDatabase();
    await query(url, insertCustomers);
    const role = `reader_${randomUUID().slice(0, 8)}`;
    await query(url, `create role ${role}; grant select on customers to ${role}`);
    const before = await query(url, 'select * from customers order by account_id, id');
    const { divided } = await divide(url, 4);
    expect(divided).toContainEqual({ table: 'customers', partitions: 4, rows: 200 });
    expect(await query(url, 'select * from customers order by account_id, id')).toEqual(before);
    const spread = await query(url, 'select distinct tableoid::regclass::text as part, account_id from customers');
    expect(spread).toHaveLength(20);
    expect(new Set(spread.map(({ part }) => part)).size).toBe(4);
    expect(await query(url, `select has_table_privilege('${role}', 'customers', 'select') as may`)).toEqual([
      { may: true },
    ]);
    await query(url, `drop owned by ${role}; drop role ${role}`);
  });

  it('stays as it is with the same number, goes on where it was ended, and refuses another', async () => {
    const url = await newDatabase();
    await divide(url, 4);
    expect(await divide(url, 4)).toEqual({ ran: [], divided: [] });
    await query(url, `create table notes (account_id text references accounts, id text, primary key (account_id, id))`);
    expect((await divide(url, 4)).divided).toEqual([{ table: 'notes', partitions: 4, rows: 0 }]);
    await expect(divide(url, 8)).rejects.toMatchObject({
      message: 'audit is in 4 partitions',
      hint: 'give this number, or copy the database into a new one that has 8: lkm db copy',
    });
  });

  it.each([
    ['create view seen as select id from customers', 'customers is read by the view seen'],
    ['create publication out for table events', 'events is in the publication out'],
    ['alter table devices enable row level security; create policy own on devices', 'devices has the policy own'],
  ])('is not made while there is something of others: %s', async (statement, message) => {
    const url = await newDatabase();
    await query(url, statement);
    await expect(divide(url, 2)).rejects.toMatchObject({ message });
    expect(Object.keys(await partitionsOf(url))).toEqual(['0']);
  });

  it('is not made while a server is connected', async () => {
    const url = await newDatabase();
    const store = await openStore(url);
    await store.repositories.accounts.oldest();
    await expect(divide(url, 2)).rejects.toMatchObject({
      message: expect.stringMatching(/^the database is in use: \d+ connections of lkm$/),
      hint: 'stop every server on it first',
    });
    await store.close();
    expect((await divide(url, 2)).divided).not.toEqual([]);
  });

  it('is made by lkm db migrate, which says so', async () => {
    const url = await newDatabase(false);
    const migrate = (...more: string[]) => lkm(['db', 'migrate', '--db', url, ...more]);
    const made = await migrate('--partitions', '2', '-q');
    expect(made).toMatchObject({ code: 0, stdout: `${Object.keys(migrations).join('\n')}\n` });
    expect(await migrate('--partitions', '2')).toMatchObject({
      code: 0,
      stderr: 'nothing to run: the schema is up to date, its tables are in 2 partitions\n',
    });
    expect(await migrate('--partitions', '4')).toMatchObject({ code: 13 });
    expect(await migrate('--partitions', '1')).toMatchObject({ code: 2 });
    expect(await lkm(['db', 'migrate', '--db', 'lkm.db', '--partitions', '2'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--partitions is for PostgreSQL: a file has none'),
    });
  });

  it.each(['0001-initial', '0007-record', '0010-license-files'])(
    'takes the migrations after %s, as one that is whole',
    async (last) => {
      const url = await newDatabase(false);
      const db = new Kysely<Tables>({
        dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }),
      });
      const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
      expect((await migrator.migrateTo(last)).error).toBeUndefined();
      await partition(db, 2, () => {});
      await db.destroy();
      await (await openStore(url)).close();
      const whole = await newDatabase();
      expect(await schemaOf(url)).toEqual(await schemaOf(whole));
      await divide(url, 2);
      expect(await partitionsOf(url)).toEqual({ 0: WHOLE, 2: expect.any(Array) });
    },
  );
});
