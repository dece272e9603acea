import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { describe, expect, vi } from 'vitest';
import type { EventType } from '../../src/contract/events.ts';
import type { Caller } from '../../src/domain/access.ts';
import { listEvents } from '../../src/service/events.ts';
import { connect, createPrepare } from '../../src/store/engine/postgres/connection.ts';
import { openPool } from '../../src/store/engine/postgres/pool.ts';
import { raw, sql } from '../../src/store/engine/sql.ts';
import { openSqlite } from '../../src/store/engine/sqlite/driver.ts';
import { ReadTooBroad, StorageError } from '../../src/store/errors.ts';
import type { Repositories } from '../../src/store/store.ts';
import { eventRepository } from '../../src/store/tables/record/events.ts';
import { recordHeadRepository } from '../../src/store/tables/record/heads.ts';
import { createFolder, engineOf, engines, type TestDatabase } from '../support/engines.ts';
import { test as it } from '../support/fixtures.ts';
import { openMeter } from '../support/row-meter.ts';
import { accountId, insertLicense } from '../support/store-fixture.ts';

/** A SQLite database with 301 products, as a server has it. */
async function openManyProducts() {
  const database = await engineOf('SQLite').createDatabase();
  await insertLicense(database.store);
  await database.query(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
    insert into products (account_id, id, name, active, created_at, updated_at)
    select 'acc_1', 'prod_' || i, '', 1, '', '' from n`);
  await database.store.close();
  const driver = await openSqlite(database.location);
  const close = async () => {
    await driver.close();
    await database[Symbol.asyncDispose]();
  };
  return { ...driver, location: database.location, close, [Symbol.asyncDispose]: close };
}

const products = raw('select count(*) as count from products');
const pairs = raw('select count(*) as count from products as a, products as b');
const triples = raw('select count(*) as count from products as a, products as b, products as c');

/** The next thread that this process starts. */
const nextThread = () => new Promise<Worker>((resolve) => process.once('worker', resolve));

describe('a read on SQLite that would hold up all others', () => {
  it('goes on in a thread, and others are read meanwhile', async () => {
    await using database = await openManyProducts();
    const { reader } = database;
    const ended: string[] = [];
    const broad = reader.first(pairs).then((row) => {
      ended.push('broad');
      return row;
    });
    for (let read = 0; read < 3; read += 1) {
      await setImmediate();
      expect(await reader.first(products)).toEqual({ count: 301 });
    }
    ended.push('others');
    expect(await broad).toEqual({ count: 301 ** 2 });
    expect(ended).toEqual(['others', 'broad']);
  });

  it('has the rows that it would have had, and sees what was committed before', async () => {
    await using database = await openManyProducts();
    const { reader, transaction } = database;
    await transaction((connection) => connection.run(sql`update products set name = ${'Größe 🗝'} where id = 'prod_7'`));
    const broad = sql`select p.name, null as absent, 1.5 as fraction, ${'x'} as given
      from products as p, products as b where p.name = ${'Größe 🗝'} or p.name || b.id = ${'none'} limit 2`;
    const row = { name: 'Größe 🗝', absent: null, fraction: 1.5, given: 'x' };
    expect(await reader.all(broad)).toEqual([row, row]);
    expect(await reader.first(broad)).toEqual(row);
  });

  it('fails when 32 wait already, which are read all the same, and so is the next one then', async () => {
    await using database = await openManyProducts();
    const { reader } = database;
    const reads = await Promise.allSettled(Array.from({ length: 34 }, () => reader.first(pairs)));
    expect(reads.filter(({ status }) => status === 'fulfilled')).toHaveLength(32);
    expect(reads.slice(-2)).toEqual(
      Array(2).fill({ status: 'rejected', reason: new StorageError(new Error('32 broad reads wait already')) }),
    );
    expect(await reader.first(pairs)).toEqual({ count: 301 ** 2 });
  });

  it('fails with its thread, and the next one has another', async () => {
    await using database = await openManyProducts();
    const { reader } = database;
    const thread = nextThread();
    const lost = reader.first(pairs);
    const next = reader.first(pairs);
    await (await thread).terminate();
    await expect(lost).rejects.toEqual(new StorageError(new Error('the thread that reads has ended')));
    expect(await next).toEqual({ count: 301 ** 2 });
  });

  it('fails when the database is not at its path any more, as a commit does', async () => {
    await using database = await openManyProducts();
    await using folder = await createFolder();
    const { reader, location } = database;
    renameSync(location, join(folder.path, 'moved.db'));
    await expect(reader.first(pairs)).rejects.toThrow(StorageError);
    renameSync(join(folder.path, 'moved.db'), location);
    expect(await reader.first(pairs)).toEqual({ count: 301 ** 2 });
  });

  it('is ended after a bound of rows, whatever reads them, and the next one is read', async () => {
    await using database = await openManyProducts();
    const { reader } = database;
    await expect(reader.first(triples)).rejects.toThrow(ReadTooBroad);
    const nested = raw(`select id from products as a where 0 < (
      select count(*) from products as b where exists (
        select 1 from products as c where c.name > a.id and b.id <> a.id || c.id))`);
    await expect(reader.all(nested)).rejects.toThrow(ReadTooBroad);
    expect(await reader.first(pairs)).toEqual({ count: 301 ** 2 });
  });

  it('is ended when the database is closed', async () => {
    const { reader, close } = await openManyProducts();
    const thread = nextThread();
    const broad = reader.first(triples);
    await once(await thread, 'online');
    const next = reader.first(pairs);
    await Promise.all([
      expect(broad).rejects.toThrow('the thread that reads has ended'),
      expect(next).rejects.toThrow('the database was closed'),
      close(),
    ]);
  });
});

describe('a read that would take for ever', () => {
  it('is ended on PostgreSQL after a time', async () => {
    await using database = await engineOf('PostgreSQL').createDatabase();
    const pool = await openPool(database.location);
    try {
      const client = await pool.connect();
      await client.query('set statement_timeout = 50');
      const connection = connect(client, createPrepare());
      await expect(connection.first(raw('select pg_sleep(5)'))).rejects.toThrow(ReadTooBroad);
      client.release(true);
    } finally {
      await pool.end();
    }
  });

  it('is refused with a message that says what to do, and not with one to try again', async ({ world }) => {
    vi.spyOn(world.store.repositories.keyLists, 'page').mockRejectedValue(new ReadTooBroad(new Error('ended')));
    const { status, body } = await world.call('admin', 'GET', '/key/list?cursor=');
    expect(status).toBe(400);
    expect(body).toEqual({
      code: 1,
      message: 'This request reads too much: narrow it down with filters, or read the list part by part',
    });
  });
});

/** One licence has as many events and one more: the last two are of rare types, all before them of one that is not. */
const MANY = 50_000;

const rare = { type: ['license.blocked', 'license.unblocked'] satisfies EventType[], limit: 10 };
const ofLicense = { ...rare, resourceId: 'lic_1' };

async function insertEvents({ store, query }: TestDatabase): Promise<void> {
  await insertLicense(store);
  await query(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MANY} + 1)
    insert into events (account_id, seq, type, subject_id, content)
    select '${accountId}', i, case i when ${MANY} then '${rare.type[0]}' when ${MANY} + 1 then '${rare.type[1]}'
      else 'session.checked_out' end, 'lic_1', '{"address":null}' from n`);
  await query(`insert into record_heads (account_id, audit_seq, audit_hash, event_seq, checkpoint_seq)
    values ('${accountId}', 0, '', ${MANY} + 1, 0)`);
}

describe('events of a rare type', () => {
  const caller = { accountId, kind: 'admin', scopes: new Set() } as unknown as Caller;

  it.each([
    { name: 'of an account', filters: rare },
    { name: 'of one licence', filters: ofLicense },
  ])('$name are sought part by part, each of which reads a bounded number of rows', async ({ filters }) => {
    await using database = await engineOf('SQLite').createDatabase();
    await insertEvents(database);
    const meter = await openMeter(database.location);
    try {
      const rows = await meter.rowsOf((connection) => {
        const repositories = { events: eventRepository(connection), recordHeads: recordHeadRepository(connection) };
        return listEvents({ repositories: repositories as unknown as Repositories, caller }, filters);
      });
      expect(rows).toBeLessThan(45_000);
    } finally {
      await meter.close();
    }
  });

  it.each(
    engines.flatMap((engine) => [
      { engine, of: 'an account', filters: rare },
      { engine, of: 'one licence', filters: ofLicense },
    ]),
  )('of $of are all found by going on after each part, on $engine.name', async ({ engine, filters }) => {
    await using database = await engine.createDatabase();
    await insertEvents(database);
    const { repositories } = database.store;
    const parts: { count: number; last: number }[] = [];
    for (let after = 0; after < MANY + 1; ) {
      const { items, meta } = await listEvents({ repositories, caller }, { ...filters, after });
      expect(meta.last).toBeGreaterThan(after);
      parts.push({ count: items.length, last: meta.last });
      after = meta.last;
    }
    expect(parts).toEqual([
      { count: 0, last: 20_000 },
      { count: 0, last: 40_000 },
      { count: 2, last: MANY + 1 },
    ]);
  });
});
