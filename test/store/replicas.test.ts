import { expect, inject, it } from 'vitest';
import { openInstance } from '../../src/server/runtime.ts';
import { openStore } from '../../src/store/store.ts';
import { databaseUrl, query } from '../support/postgres.ts';

async function emptyDatabase(): Promise<AsyncDisposable & { readonly location: string }> {
  const server = inject('postgres');
  const name = `lkm_replicas_${process.pid}_${performance.now()}`.replace('.', '_');
  await query(server, `create database ${name}`);
  return {
    location: databaseUrl(server, name),
    [Symbol.asyncDispose]: async () => {
      await query(server, `drop database ${name} with (force)`);
    },
  };
}

it('servers that start at once on an empty PostgreSQL migrate once and agree on one account', async () => {
  await using database = await emptyDatabase();
  const instances = await Promise.all(Array.from({ length: 4 }, () => openInstance({ db: database.location })));
  expect(new Set(instances.map(({ accountId }) => accountId)).size).toBe(1);
  expect(instances.filter(({ created }) => created)).toHaveLength(1);
  await Promise.all(instances.map((instance) => instance.close()));
  expect(await query(database.location, 'select count(*) as count from signing_keys')).toEqual([{ count: 1 }]);
});

it('what one server has committed another reads', async () => {
  await using database = await emptyDatabase();
  const [one, other] = [await openInstance({ db: database.location }), await openInstance({ db: database.location })];
  const ask = (instance: typeof one, method: string, body?: string) =>
    instance.fetch(
      new Request('http://127.0.0.1/product', {
        method,
        headers: { Authorization: `Bearer ${instance.ownerToken}`, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      }),
    );
  await ask(one, 'POST', '{"name":"Editor"}');
  const listed = (await (await ask(other, 'GET')).json()) as { data: { name: string }[] };
  expect(listed.data.map(({ name }) => name)).toEqual(['Editor']);
  await one.close();
  await other.close();
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
