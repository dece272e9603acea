import { rm } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { toInstant } from '../../src/domain/time.ts';
import { backUp, copyInstance, databaseStatus, inspectDatabase, migrateDatabase } from '../../src/operator/index.ts';
import { openInstance } from '../../src/server/runtime.ts';
import { startServer } from '../../src/server/serve.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { openStore } from '../../src/store/store.ts';
import { createFolder, engineOf, engines } from '../support/engines.ts';

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

describe.each(engines)('a database of a version that was never released, on $name', (engine) => {
  const refused = {
    name: 'StartupError',
    message: 'the database was made by a version of lkm that was never released',
    hint: 'make a new database; to keep the keys, export them with that version first: lkm keys export',
  };
  it.each([
    ['other statements', "update lkm_migrations set fingerprint = 'other'"],
    ['another table of migrations', 'alter table lkm_migrations rename to migrations'],
    ['no table of migrations', 'drop table lkm_migrations'],
  ])('is refused by everything, and stays as it is: one with %s', async (_, change) => {
    await using database = await engine.createDatabase();
    const { location: db } = database;
    await database.query(change);
    await database.store.close();
    const tables = await database.listTables();
    const uses = { openStore, migrateDatabase, databaseStatus, serverOn, inspectDatabase };
    for (const [name, use] of Object.entries(uses)) await expect(use(db), name).rejects.toMatchObject(refused);
    await using folder = await createFolder();
    await expect(copyInstance(db, `${folder.path}/copy.db`, () => {})).rejects.toMatchObject(refused);
    if (engine.name === 'SQLite') {
      const now = toInstant(Date.UTC(2026, 10, 21));
      await expect(backUp(db, `${folder.path}/backup.db`, { now })).rejects.toMatchObject(refused);
    }
    expect(await database.listTables()).toEqual(tables);
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
    await database.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`);
    const held = `select 1 from pg_locks where locktype = 'advisory' and granted
       and database = (select oid from pg_database where datname = current_database())`;
    await expect.poll(() => database.query(held)).not.toEqual([]);
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
