import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { raw } from '../../src/store/engine/sql.ts';
import { openSqlite } from '../../src/store/engine/sqlite/driver.ts';
import { StartupError } from '../../src/store/errors.ts';
import { openStore } from '../../src/store/store.ts';
import { createFolder } from '../support/engines.ts';
import { test as it } from '../support/fixtures.ts';
import { insertLicense } from '../support/store-fixture.ts';
import { kill, spawnOwner } from './processes.ts';

describe('a database file', () => {
  it.each([
    ['journal_mode', 'wal'],
    ['synchronous', 2],
    ['foreign_keys', 1],
    ['secure_delete', 1],
  ])('is written with %s %s', async (pragma, value) => {
    await using folder = await createFolder();
    const driver = await openSqlite(join(folder.path, 'lkm.db'));
    const row = await driver.transaction((connection) => connection.first<object>(raw(`pragma ${pragma}`)));
    await driver.close();
    expect({ ...row }).toEqual({ [pragma]: value });
  });

  it.each([
    ['for its owner only, when it is made', undefined, 0o600],
    ['as it is, when it was there before', 0o640, 0o640],
  ])('has its mode %s, and so has all that is beside it', async (_, before, after) => {
    await using folder = await createFolder();
    const db = join(folder.path, 'new', 'lkm.db');
    if (before !== undefined) {
      await (await openStore(db)).close();
      rmSync(`${db}-lock`);
      chmodSync(db, before);
    }
    const store = await openStore(db);
    await insertLicense(store);
    const modes = readdirSync(dirname(db)).map((name) => [name, statSync(join(dirname(db), name)).mode & 0o777]);
    await store.close();
    const names = ['lkm.db', 'lkm.db-lock', 'lkm.db-owner', 'lkm.db-shm', 'lkm.db-wal'];
    expect(modes).toEqual(names.map((name) => [name, after]));
    expect(statSync(dirname(db)).mode & 0o777).toBe(0o700);
  });

  it('leaves no more behind than itself and its lock', async ({ folder }) => {
    const store = await openStore(join(folder.path, 'lkm.db'));
    await insertLicense(store);
    await store.close();
    expect(readdirSync(folder.path)).toEqual(['lkm.db', 'lkm.db-lock']);
  });

  it('is refused when it lies in what is no folder', async ({ folder }) => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    await expect(openStore(join(file, 'lkm.db'))).rejects.toBeInstanceOf(StartupError);
  });
});

describe('the owner of a database file', () => {
  it('is the only one, in its own process too', async ({ db }) => {
    const store = await openStore(db);
    await expect(openStore(db)).rejects.toEqual(
      new StartupError(`${db} is in use by process ${process.pid}`, 'wait until it has finished'),
    );
    await store.close();
    await (await openStore(db)).close();
  });

  it('tells where it can be reached, and nobody waits for it then', async ({ db }) => {
    const store = await openStore(db);
    store.publishUrl('http://127.0.0.1:8080');
    await expect(openStore(db, { waitMs: 600_000 })).rejects.toEqual(
      new StartupError(
        `${db} is served by process ${process.pid} at http://127.0.0.1:8080`,
        'use that server (--base-url http://127.0.0.1:8080), or stop it first',
      ),
    );
    await store.close();
  });

  it('is waited for when it is short-lived', async ({ db }) => {
    const store = await openStore(db);
    const second = openStore(db, { waitMs: 600_000 });
    await store.close();
    await (await second).close();
  });

  it('is another process that names itself, and is none any more once it has been killed', async ({ db }) => {
    const owner = await spawnOwner(db, 'http://127.0.0.1:1');
    await expect(openStore(db)).rejects.toMatchObject({
      name: 'StartupError',
      message: `${db} is served by process ${owner.pid} at http://127.0.0.1:1`,
    });

    await kill(owner);

    expect(existsSync(`${db}-owner`)).toBe(true);
    const store = await openStore(db);
    expect(await store.repositories.accounts.oldest()).toEqual({
      id: 'acc_1',
      name: 'acme',
      createdAt: '2026-11-21T10:00:00.000Z',
    });
    await store.close();
  });
});

it('a migration that is cut off in the middle leaves nothing, and the next opening runs it whole', async ({
  folder,
}) => {
  const location = join(folder.path, 'lkm.db');
  const database = new DatabaseSync(location);
  // The last statement of the first migration finds its table in the way.
  database.exec(
    'create table sessions (id text); create table lkm_migrations (name text primary key, fingerprint text)',
  );
  database.close();
  await expect(openStore(location)).rejects.toThrow('sessions');
  const again = new DatabaseSync(location);
  const tables = again.prepare("select name from sqlite_master where type = 'table' and name = 'accounts'").all();
  again.exec('drop table sessions');
  again.close();
  expect(tables).toEqual([]);
  await (await openStore(location)).close();
});
