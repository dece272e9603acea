import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { openInstance } from '../../src/server/runtime.ts';
import { inspect, withDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { hasIndexOfWords } from '../../src/store/search.ts';
import { openStore } from '../../src/store/store.ts';
import { now } from '../domain/examples.ts';
import { newPlace } from '../support/engines.ts';
import { query } from '../support/postgres.ts';
import { accountId, insertAccount } from '../support/store-fixture.ts';

it('servers that start at once on an empty PostgreSQL migrate once and agree on one account', async () => {
  await using database = await newPlace('PostgreSQL');
  const instances = await Promise.all(Array.from({ length: 4 }, () => openInstance({ db: database.location })));
  expect(new Set(instances.map(({ accountId }) => accountId)).size).toBe(1);
  expect(instances.filter(({ created }) => created)).toHaveLength(1);
  await Promise.all(instances.map((instance) => instance.close()));
  expect(await query(database.location, 'select count(*) as count from signing_keys')).toEqual([{ count: 1 }]);
});

it.each([
  ['a wrong password', (url: URL) => Object.assign(url, { password: 'wrong' }), 'refused the user or the password'],
  ['a port where nothing listens', (url: URL) => Object.assign(url, { port: '1' }), 'does not answer'],
  ['a database that is not there', (url: URL) => Object.assign(url, { pathname: '/nowhere' }), 'does not exist'],
])('PostgreSQL behind %s is refused in one line, without the password', async (_, change, message) => {
  const url = change(new URL(inject('postgres')));
  const failed = await openStore(url.href).catch((error: Error) => error);
  expect(failed).toMatchObject({ name: 'StartupError', message: expect.stringContaining(message) });
  expect(String(failed)).not.toContain(url.password);
});

describe('a user of PostgreSQL who lacks rights', () => {
  /** A database of lkm, and its address with a user who has been granted so much and no more. */
  async function databaseFor(...grants: readonly string[]) {
    const server = inject('postgres');
    const database = await newPlace('PostgreSQL');
    await withDatabase(database.location, undefined, migrate);
    const user = `lkm_weak_${randomUUID().replaceAll('-', '')}`;
    await query(server, `create role ${user} login password 'weak'`);
    for (const grant of grants) await query(database.location, `grant ${grant} to ${user}`);
    const url = Object.assign(new URL(database.location), { username: user, password: 'weak' });
    return {
      location: url.href,
      asOwner: (statement: string) => query(database.location, `${statement} from ${user}`),
      [Symbol.asyncDispose]: async () => {
        await database[Symbol.asyncDispose]();
        await query(server, `drop role ${user}`);
      },
    };
  }

  const onAll = 'on all tables in schema public';
  const ways: [string, (location: string) => Promise<unknown>][] = [
    ['to serve it', (location) => openStore(location)],
    ['to look at it', inspect],
    ['to work on it', (location) => withDatabase(location, undefined, migrate)],
  ];

  it.each(ways)('is told so who tries %s', async (_, use) => {
    await using none = await databaseFor();
    const message = expect.stringMatching(
      /^the user may not SELECT, INSERT, UPDATE, DELETE in the table accounts of the PostgreSQL/,
    );
    await expect(use(none.location)).rejects.toMatchObject({ name: 'StartupError', message });
    await using reader = await databaseFor(`select ${onAll}`);
    const lacking = expect.stringMatching(/^the user may not INSERT, UPDATE, DELETE in the table accounts/);
    await expect(use(reader.location)).rejects.toMatchObject({ name: 'StartupError', message: lacking });
  });

  it.each(ways)('is told which table refuses them, though all others do not, who tries %s', async (_, use) => {
    await using database = await databaseFor(`select, insert, update, delete ${onAll}`);
    await database.asOwner('revoke update, delete on webhooks');
    const message = expect.stringMatching(/^the user may not UPDATE, DELETE in the table webhooks of the PostgreSQL/);
    const hint = expect.stringContaining('grant SELECT, INSERT, UPDATE and DELETE on all of them');
    await expect(use(database.location)).rejects.toMatchObject({ name: 'StartupError', message, hint });
  });

  it('makes the tables without an index of words where the extension may not be added, and finds the same', async () => {
    await using database = await newPlace('PostgreSQL');
    const user = `lkm_weak_${randomUUID().replaceAll('-', '')}`;
    await query(inject('postgres'), `create role ${user} login password 'weak'`);
    await query(database.location, `grant create, usage on schema public to ${user}`);
    const url = Object.assign(new URL(database.location), { username: user, password: 'weak' });
    try {
      await withDatabase(url.href, undefined, migrate);
      expect(await withDatabase(url.href, undefined, hasIndexOfWords)).toBe(false);
      const store = await openStore(url.href);
      await insertAccount(store, { id: accountId, name: 'acme', createdAt: now });
      await store.transaction(({ customers }) =>
        customers.insert({ accountId, id: 'cus_1', name: 'Müller', email: null, now }),
      );
      const found = await store.repositories.customers.list(accountId, { text: 'uell' }).part({ limit: 2 });
      expect(found.map(({ name }) => name)).toEqual(['Müller']);
      await store.close();
    } finally {
      await query(database.location, `drop owned by ${user}`);
      await query(inject('postgres'), `drop role ${user}`);
    }
  });

  it('may serve it with the rights on rows alone', async () => {
    await using writer = await databaseFor(`select, insert, update, delete ${onAll}`);
    await (await openStore(writer.location)).close();
  });
});
