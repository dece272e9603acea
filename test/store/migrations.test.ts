import { DatabaseSync } from 'node:sqlite';
import { Migrator } from 'kysely/migration';
import { describe, expect, it } from 'vitest';
import { kyselyOn } from '../../src/store/engine/sqlite/connection.ts';
import { migrations } from '../../src/store/migrations/index.ts';

describe('customers of a database from before they could be searched', () => {
  it('can be searched once it is opened, however many they are', async () => {
    const database = new DatabaseSync(':memory:');
    const db = kyselyOn(database);
    const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
    expect((await migrator.migrateTo('0003-audit')).error).toBeUndefined();
    database.exec(`insert into accounts values ('acc_1', 'acme', '')`);
    const insert = database.prepare(`insert into customers values ('acc_1', ?, ?, ?, ?, 1, '', '')`);
    for (let i = 0; i < 1_100; i += 1) insert.run(`cus_${i}`, `Zoë ${i}`, `z${i}@x.org`, `z${i}@x.org`);
    insert.run('cus_bare', '-', null, null);
    expect((await migrator.migrateToLatest()).error).toBeUndefined();
    const [row] = database.prepare(`select search_text from customers where id = 'cus_7'`).all();
    expect(row?.search_text).toBe(' zoë 7  z7 x org');
    expect(database.prepare(`select count(*) as n from customers where search_text = ''`).get()?.n).toBe(0);
    database.close();
  });
});
