import { rm } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { migrateDatabase } from '../../src/operator/index.ts';
import { openInstance } from '../../src/server/runtime.ts';
import { startServer } from '../../src/server/serve.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { openStore } from '../../src/store/store.ts';
import { engineOf, engines } from '../support/engines.ts';

const NEXT = '9999-next';
const known: Record<string, unknown> = migrations;

/** Makes this version one that has a further migration. */
function release(): void {
  known[NEXT] = () => ['create table of_next (id integer)'];
}

afterEach(() => {
  delete known[NEXT];
});

const serverOn = (db: string) =>
  startServer({ db, host: '127.0.0.1', port: 0, logFormat: 'none', logTo: { write() {} } });

describe.each(engines)('a database of an older lkm on $name', (engine) => {
  it('is refused by everything but a server and db migrate, with the line to type', async () => {
    await using database = await engine.createDatabase();
    const { location: db } = database;
    await database.store.close();
    release();
    const refused = {
      name: 'StartupError',
      message: `the database is of an older lkm (1 to migrate, from ${NEXT})`,
      hint: expect.stringMatching(/^a server of this version .*: lkm db migrate --db \S+$/),
    };
    await expect(openStore(db)).rejects.toMatchObject(refused);
    await expect(openInstance({ db, create: false })).rejects.toMatchObject(refused);
    await expect(openInstance({ db, create: true })).rejects.toMatchObject(refused);
    expect(await migrateDatabase(db)).toEqual([NEXT]);
    await (await openStore(db)).close();
    await database.query('drop table of_next');
  });

  it('is migrated by a server that starts', async () => {
    await using database = await engine.createDatabase();
    await database.store.close();
    release();
    await (await serverOn(database.location)).close();
    expect(await migrateDatabase(database.location)).toEqual([]);
    await database.query('drop table of_next');
  });

  it('is refused by an older lkm once a newer one has changed it', async () => {
    await using database = await engine.createDatabase();
    await database.store.close();
    release();
    await migrateDatabase(database.location);
    delete known[NEXT];
    const refused = { name: 'StartupError', message: expect.stringContaining(`newer lkm (migration ${NEXT})`) };
    for (const use of [openStore, migrateDatabase, serverOn]) {
      await expect(use(database.location)).rejects.toMatchObject(refused);
    }
    await database.query('drop table of_next');
  });
});

describe('a new database', () => {
  it('is made by who says so, and by nobody else', async () => {
    for (const engine of engines) {
      await using database = await engine.createDatabase();
      await database.store.close();
      if (engine.name === 'SQLite') await rm(database.location);
      else await database.query('drop schema public cascade; create schema public');
      await expect(openStore(database.location, { create: false })).rejects.toMatchObject({ name: 'StartupError' });
      await (await openStore(database.location)).close();
      if (engine.name === 'PostgreSQL') await database.query('create table done (id integer)');
    }
  });
});

describe('a PostgreSQL database in use', () => {
  it('is migrated by nobody while a server or command uses it', async () => {
    await using database = await engineOf('PostgreSQL').createDatabase();
    release();
    const refused = {
      name: 'StartupError',
      message: 'the database is in use by a server or command of lkm',
      hint: 'stop every server on it, then try again',
    };
    await expect(migrateDatabase(database.location)).rejects.toMatchObject(refused);
    await expect(serverOn(database.location)).rejects.toMatchObject(refused);
    // Whose connections were all lost, and are renewed.
    const ended = await database.query(`select pid, pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`);
    // A process of PostgreSQL that is told to end holds its lock a moment longer.
    const held = `select 1 from pg_locks where locktype = 'advisory' and granted
       and pid not in (${ended.map(({ pid }) => pid)})
       and database = (select oid from pg_database where datname = current_database())`;
    await expect.poll(() => database.query(held), { timeout: 10_000 }).not.toEqual([]);
    await expect(migrateDatabase(database.location)).rejects.toMatchObject(refused);
    await database.store.close();
    const servers = await Promise.all([serverOn(database.location), serverOn(database.location)]);
    expect(await database.query("select count(*) as tables from pg_tables where tablename = 'of_next'")).toEqual([
      { tables: 1 },
    ]);
    await Promise.all(servers.map((server) => server.close()));
    await database.query('drop table of_next');
  });
});
