import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { connect, createPreparer } from '../../src/store/engine/postgres/connection.ts';
import { openPool, REQUEST_TIMEOUTS } from '../../src/store/engine/postgres/pool.ts';
import { openSqlite } from '../../src/store/engine/sqlite/driver.ts';
import { dynamicStatement } from '../../src/store/engine/statement.ts';
import { ReadTooBroad } from '../../src/store/engine/storage-error.ts';
import { type Engine, engines } from '../support/engines.ts';
import { insertLicense } from '../support/store-fixture.ts';
import { createWorld } from '../support/world.ts';

function engineOf(name: string): Engine {
  const engine = engines.find((one) => one.name === name);
  if (engine === undefined) throw new Error(`no engine is called ${name}`);
  return engine;
}

const statementOf = (text: string) =>
  dynamicStatement<object, unknown>((db) => ({ compile: () => sql.raw(text).compile(db) }));

describe('a read that would take for ever', () => {
  it('is ended on SQLite after a bound of rows, whatever reads them, and the next one is read', async () => {
    await using database = await engineOf('SQLite').createDatabase();
    await insertLicense(database.store);
    await database.query(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
      insert into products (account_id, id, name, active, created_at, updated_at)
      select 'acc_1', 'prod_' || i, '', 1, '', '' from n`);
    await database.store.close();
    const { reader, close } = await openSqlite(database.location);
    try {
      const broad = statementOf('select count(*) from products as a, products as b, products as c');
      await expect(reader.first(broad, {})).rejects.toThrow(ReadTooBroad);
      const nested = statementOf(`select id from products as a where 0 < (
        select count(*) from products as b where exists (
          select 1 from products as c where c.name > a.id and b.id <> a.id || c.id))`);
      await expect(reader.all(nested, {})).rejects.toThrow(ReadTooBroad);
      expect(await reader.first(statementOf('select count(*) as count from products'), {})).toEqual({ count: 301 });
    } finally {
      await close();
    }
  });

  it('is ended on PostgreSQL after a time', async () => {
    await using database = await engineOf('PostgreSQL').createDatabase();
    const { pool, kysely } = await openPool(database.location, { ...REQUEST_TIMEOUTS });
    try {
      const client = await pool.connect();
      await client.query('set statement_timeout = 50');
      const connection = connect(client, createPreparer(kysely));
      await expect(connection.first(statementOf('select pg_sleep(5)'), {})).rejects.toThrow(ReadTooBroad);
      client.release(true);
    } finally {
      await pool.end();
    }
  });

  it('is refused with a message that says what to do, and not with one to try again', async () => {
    await using world = await createWorld();
    vi.spyOn(world.store.repositories.keyLists, 'page').mockRejectedValue(new ReadTooBroad(new Error('ended')));
    const { status, body } = await world.call('admin', 'GET', '/key/list?cursor=');
    expect(status).toBe(400);
    expect(body).toEqual({
      code: 1,
      message: 'This request reads too much: narrow it down with filters, or read the list part by part',
    });
  });
});
