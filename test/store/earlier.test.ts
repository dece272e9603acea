import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { databaseStatus, drill, migrateDatabase } from '../../src/operator/index.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { openStore } from '../../src/store/store.ts';
import { createFolder } from '../support/engines.ts';

/** A database of the build before the migrations became one: a product, a customer, a key, a device, a signed file. */
async function earlier(change = '') {
  const folder = await createFolder();
  const db = join(folder.path, 'lkm.db');
  const database = new DatabaseSync(db);
  database.exec(readFileSync(join(import.meta.dirname, 'earlier.sql'), 'utf8') + change);
  database.close();
  chmodSync(db, 0o600);
  return { db, folder: folder.path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** Tables, columns, indexes and references, whatever the text that made them looks like. */
function schemaOf(db: string) {
  const database = new DatabaseSync(db, { readOnly: true });
  const all = (text: string) => database.prepare(text).all();
  const flat = (text: unknown) =>
    String(text)
      .replaceAll('"', '')
      .replace(/\s+/g, ' ')
      .replace(/ ?([(),]) ?/g, '$1');
  const found = all(`select name, type, sql from sqlite_master where name not like 'sqlite_%' order by name`).map(
    ({ name, type, sql: text }) => ({
      name,
      ...(type === 'index'
        ? {
            index: flat(text)
              .replace(/^create/i, '')
              .trim()
              .toLowerCase(),
          }
        : {
            columns: all(`pragma table_xinfo('${name}')`),
            indexes: all(`select name, "unique", origin, partial from pragma_index_list('${name}') order by name`),
            references: all(`pragma foreign_key_list('${name}')`),
            isClustered: /without rowid/i.test(String(text)),
          }),
    }),
  );
  database.close();
  return found;
}

const FOLLOWING = Object.keys(migrations).slice(1);

it('a database of an earlier build is migrated: its data is there, its files verify', async () => {
  await using made = await earlier();
  const status = { engine: 'SQLite', done: ['0001-schema'], pending: FOLLOWING, unknown: [] };
  expect(await databaseStatus(made.db)).toEqual(status);
  await expect(openStore(made.db, { create: false })).rejects.toMatchObject({ name: 'StartupError' });
  expect(await migrateDatabase(made.db)).toEqual(FOLLOWING);
  const store = await openStore(made.db, { create: false });
  const account = await store.repositories.accounts.oldest();
  expect(account).not.toBeNull();
  await store.close();
  const report = await drill(made.db, {
    ...{ workPath: join(made.folder, 'drill.db'), now: '2026-11-24T10:00:00.000Z' as never },
    ...{ masterKey: null, licenseFiles: [] },
  });
  expect(report).toMatchObject({
    migrations: [],
    problems: [],
    accounts: [{ auditRows: expect.any(Number), licenseFiles: 1 }],
  });
});

it('a database of an earlier build has the tables that a new one gets', async () => {
  await using made = await earlier();
  await migrateDatabase(made.db);
  const fresh = join(made.folder, 'new.db');
  await (await openStore(fresh)).close();
  expect(schemaOf(fresh)).toEqual(schemaOf(made.db));
});
