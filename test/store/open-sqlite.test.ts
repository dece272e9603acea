import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../src/store/engine/sqlite/driver.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { openStore } from '../../src/store/open.ts';
import { StartupError } from '../../src/store/startup-error.ts';
import { createFolder } from '../support/engines.ts';
import { accountId, stock } from '../support/shelf.ts';

const OPEN = pathToFileURL(join(import.meta.dirname, '../../src/store/open.ts')).href;

describe('a database file', () => {
  it('gets every migration when it is new, and none twice', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    for (let i = 0; i < 2; i += 1) await (await openStore(db, 0)).close();
    const raw = new DatabaseSync(db);
    const names = raw.prepare('select name from kysely_migration order by name').all();
    raw.close();
    expect(names.map(({ name }) => name)).toEqual(Object.keys(migrations));
  });

  it('keeps what was written when it is opened again', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const first = await openStore(db, 0);
    const license = await stock(first);
    await first.close();
    const second = await openStore(db, 0);
    const found = await second.repositories.keys.find(accountId, license.productId, license.key);
    await second.close();
    expect(found).toEqual(license);
  });

  it.each([
    ['journal_mode', 'wal'],
    ['synchronous', 2],
    ['foreign_keys', 1],
  ])('is written with %s %s', async (pragma, value) => {
    await using folder = await createFolder();
    const driver = await openSqlite(join(folder.path, 'lkm.db'), 0);
    const ask = { compile: () => ({ sql: `pragma ${pragma}`, bind: () => [] }) };
    const row = await driver.transaction((connection) => connection.first<object, object>(ask, {}));
    await driver.close();
    expect({ ...row }).toEqual({ [pragma]: value });
  });

  it('is taken from everybody but its owner, it and all that lies beside it', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    writeFileSync(db, '');
    chmodSync(db, 0o644);
    const store = await openStore(db, 0);
    await stock(store);
    const modes = readdirSync(folder.path).map((name) => statSync(join(folder.path, name)).mode & 0o777);
    await store.close();
    expect(modes.length).toBeGreaterThan(3);
    expect(new Set(modes)).toEqual(new Set([0o600]));
  });

  it('leaves no more behind than itself and its lock', async () => {
    await using folder = await createFolder();
    const store = await openStore(join(folder.path, 'lkm.db'), 0);
    await stock(store);
    await store.close();
    expect(readdirSync(folder.path)).toEqual(['lkm.db', 'lkm.db-lock']);
  });

  it('is refused when it is a folder', async () => {
    const opened = openStore('.', 0);
    await expect(opened).rejects.toBeInstanceOf(StartupError);
    await expect(opened).rejects.toThrow('cannot be opened');
  });

  it('is refused when it lies in what is no folder', async () => {
    await using folder = await createFolder();
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    await expect(openStore(join(file, 'lkm.db'), 0)).rejects.toBeInstanceOf(StartupError);
  });

  it('is refused, and left as it is, when it is no database', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'notes.txt');
    const notes = 'Buy milk.\n'.repeat(200);
    writeFileSync(db, notes);
    for (let i = 0; i < 2; i += 1) {
      await expect(openStore(db, 0)).rejects.toMatchObject({
        name: 'StartupError',
        message: `${db} is not a database`,
        hint: 'give another file with --db',
      });
    }
    expect(readFileSync(db, 'utf8')).toBe(notes);
  });

  it('is refused when a newer lkm has changed it', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    await (await openStore(db, 0)).close();
    const raw = new DatabaseSync(db);
    raw.exec(`insert into kysely_migration (name, timestamp) values ('9999-later', '2027-01-01T00:00:00.000Z')`);
    raw.close();
    for (let i = 0; i < 2; i += 1) {
      await expect(openStore(db, 0)).rejects.toEqual(
        new StartupError(
          'the database was changed by a newer lkm (migration 9999-later)',
          'use that version or a later one',
        ),
      );
    }
  });
});

describe('the owner of a database file', () => {
  it('is the only one, in its own process too', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const store = await openStore(db, 0);
    await expect(openStore(db, 0)).rejects.toEqual(
      new StartupError(`${db} is in use by process ${process.pid}`, 'wait until it has finished'),
    );
    await store.close();
    await (await openStore(db, 0)).close();
  });

  it('is the only one by whatever path the file is called', async () => {
    await using folder = await createFolder();
    mkdirSync(join(folder.path, 'sub'));
    const store = await openStore(join(folder.path, 'lkm.db'), 0);
    await expect(openStore(`${folder.path}/sub/../lkm.db`, 0)).rejects.toBeInstanceOf(StartupError);
    await store.close();
  });

  it('tells where it can be reached, and nobody waits for it then', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const store = await openStore(db, 0);
    store.announce('http://127.0.0.1:8080');
    await expect(openStore(db, 600_000)).rejects.toEqual(
      new StartupError(
        `${db} is served by process ${process.pid} at http://127.0.0.1:8080`,
        'use that server (--base-url http://127.0.0.1:8080), or stop it first',
      ),
    );
    await store.close();
  });

  it('is waited for when it is short-lived', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const store = await openStore(db, 0);
    const second = openStore(db, 600_000);
    await store.close();
    await (await second).close();
  });

  it('is another process that names itself, and is none any more once it has been killed', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const owner = spawnOwner(db);
    await once(owner.stdout, 'data');
    await expect(openStore(db, 0)).rejects.toMatchObject({
      name: 'StartupError',
      message: `${db} is served by process ${owner.pid} at http://127.0.0.1:1`,
    });

    owner.kill('SIGKILL');
    await once(owner, 'exit');

    expect(existsSync(`${db}-owner`)).toBe(true);
    const store = await openStore(db, 0);
    expect(await store.repositories.accounts.oldest()).toEqual({
      id: 'acc_1',
      name: 'acme',
      createdAt: '2026-11-21T10:00:00.000Z',
    });
    await store.close();
  });
});

/** A process that opens the file, writes to it, announces itself, says so, and then stays. */
function spawnOwner(db: string) {
  const program = `
    import { openStore } from ${JSON.stringify(OPEN)};
    const store = await openStore(${JSON.stringify(db)}, 0);
    await store.transaction((rows) =>
      rows.accounts.insert({ id: 'acc_1', name: 'acme', createdAt: '2026-11-21T10:00:00.000Z' }));
    store.announce('http://127.0.0.1:1');
    process.stdout.write('ready');
    setInterval(() => {}, 1_000);
  `;
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    owner.kill('SIGKILL');
  });
  return owner;
}

it('a migration that is cut off in the middle leaves nothing, and the next opening runs it whole', async () => {
  await using folder = await createFolder();
  const location = join(folder.path, 'lkm.db');
  const database = new DatabaseSync(location);
  // The last statement of the first migration finds its table in the way.
  database.exec('create table sessions (id text)');
  database.close();
  await expect(openStore(location, 0)).rejects.toThrow('sessions');
  const again = new DatabaseSync(location);
  const tables = again.prepare("select name from sqlite_master where type = 'table' and name = 'accounts'").all();
  again.exec('drop table sessions');
  again.close();
  expect(tables).toEqual([]);
  await (await openStore(location, 0)).close();
});
