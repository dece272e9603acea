import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { scopes } from '../../src/contract/scopes.ts';
import type { TransportResponse } from '../../src/contract/transport.ts';
import { openInstance } from '../../src/server/index.ts';
import { createFolder } from '../support/engines.ts';
import { type Answer, readAnswer } from '../support/world.ts';

/** Headers of a response; the first differs when a request is repeated. */
const named = ['Idempotency-Replayed', 'content-type', 'Cache-Control', 'allow', 'www-authenticate', 'ETag'];

const clock = () => Date.parse('2026-11-21T10:00:00.000Z');

describe('openInstance', () => {
  it('makes a new database, whose owner may do everything', async () => {
    await using folder = await createFolder();
    const instance = await openInstance({ db: join(folder.path, 'lkm.db'), clock });
    const self = await ask(instance, instance.ownerToken, '/token/self');
    await instance.close();
    expect(instance.created).toBe(true);
    // 256 random bits.
    expect(instance.ownerToken).toMatch(/^[\w-]{43}$/);
    expect(self.body).toEqual({
      action: 'tokens.self',
      status: true,
      data: {
        id: instance.accountId,
        name: 'owner of the database',
        kind: 'admin',
        scopes,
        productIds: null,
        networks: null,
        maxIssues: null,
        issued: null,
        rateLimit: null,
        expiresAt: null,
        revokedAt: null,
        lastUsedOn: null,
        createdAt: '2026-11-21T10:00:00.000Z',
      },
      code: 0,
    });
  });

  it('gives the first account a name', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const instance = await openInstance({ db, clock });
    await instance.close();
    using database = new DatabaseSync(db, { readOnly: true });
    expect(database.prepare('SELECT id, name FROM accounts').all()).toEqual([
      { id: instance.accountId, name: 'default' },
    ]);
  });

  it('gives the same responses with objects of the Fetch API and without them', async () => {
    await using folder = await createFolder();
    const instance = await openInstance({ db: join(folder.path, 'lkm.db'), clock });
    const headers = {
      authorization: `Bearer ${instance.ownerToken}`,
      'content-type': 'application/json',
      'idempotency-key': 'once',
    };
    const requests = [
      { method: 'POST', path: '/product', headers, body: '{"name":"Engine"}' },
      { method: 'POST', path: '/product', headers: { ...headers, 'content-type': 'text/plain' }, body: 'Engine' },
      { method: 'POST', path: '/product', headers, body: `"${'a'.repeat(2_000_000)}"` },
      { method: 'GET', path: '/product?limit=5', headers, body: null },
      { method: 'GET', path: '/customer', headers, body: null },
      { method: 'GET', path: '/customer', headers: { authorization: 'Bearer another' }, body: null },
      { method: 'DELETE', path: '/create-key', headers, body: null },
      { method: 'GET', path: '/nowhere', headers, body: null },
      { method: 'GET', path: '/create%2Dkey', headers, body: null },
      { method: 'GET', path: '/openapi.json', headers: {}, body: null },
    ] as const;
    const read = async ({ status, headers, body }: TransportResponse) => ({
      status,
      headers: named.map((name) => headers.get(name)),
      body: body === null ? '' : await text(body),
    });
    const signal = new AbortController().signal;
    const answers = [];
    for (const { path, ...request } of requests) {
      const url = `http://in-process${path}`;
      const direct = await read(await instance.transport({ url, ...request }, signal));
      answers.push(direct.status);
      const { status, headers, body } = await instance.fetch(new Request(url, request));
      // The second is a repetition of the first.
      const [replayed, ...others] = direct.headers;
      expect(replayed).toBeNull();
      const fetched = await read({ status, headers, body });
      expect([fetched.headers[0], others, fetched.body]).toEqual([
        direct.status === 201 ? 'true' : null,
        fetched.headers.slice(1),
        direct.body,
      ]);
      expect(status).toBe(direct.status);
    }
    await instance.close();
    expect(answers).toEqual([201, 400, 413, 200, 200, 401, 405, 404, 404, 200]);
  });

  it('takes who sends no token for the owner on its transport alone, which only this process can call', async () => {
    await using folder = await createFolder();
    const instance = await openInstance({ db: join(folder.path, 'lkm.db'), clock });
    const send = async (headers: Readonly<Record<string, string>>) => {
      const request = { url: 'http://in-process/customer', method: 'GET', headers, body: null } as const;
      const { status } = await instance.transport(request, new AbortController().signal);
      return [status, (await instance.fetch(new Request(request.url, { headers }))).status];
    };
    const statuses = [
      await send({}),
      await send({ authorization: '' }),
      await send({ authorization: 'Bearer' }),
      await send({ authorization: `Bearer ${instance.ownerToken}` }),
    ];
    await instance.close();
    expect(statuses).toEqual([
      [200, 401],
      [401, 401],
      [401, 401],
      [200, 200],
    ]);
  });

  it('answers HEAD as GET, without the body', async () => {
    await using folder = await createFolder();
    const instance = await openInstance({ db: join(folder.path, 'lkm.db'), clock });
    const answer = (method: string) =>
      instance.fetch(
        new Request('http://in-process/customer', {
          method,
          headers: { Authorization: `Bearer ${instance.ownerToken}` },
        }),
      );
    const [got, head] = [await answer('GET'), await answer('HEAD')];
    await instance.close();
    expect([got.status, head.status, head.headers.get('content-type')]).toEqual([200, 200, 'application/json']);
    expect([(await got.text()).length > 0, await head.text()]).toEqual([true, '']);
  });

  it('finds what an earlier instance kept', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const first = await openInstance({ db, clock });
    const created = await ask(first, first.ownerToken, '/product', { name: 'Editor' });
    await first.close();

    const second = await openInstance({ db, clock });
    const listed = await ask(second, second.ownerToken, '/product');
    await second.close();
    expect([second.created, second.accountId]).toEqual([false, first.accountId]);
    expect(listed.body.data).toEqual([created.body.data]);
  });

  it('takes an owner’s token for itself only, and in full only', async () => {
    await using folder = await createFolder();
    const first = await openInstance({ db: join(folder.path, 'a.db') });
    const second = await openInstance({ db: join(folder.path, 'b.db') });
    const statuses = [];
    for (const token of [first.ownerToken, first.ownerToken.slice(0, -1), '', second.ownerToken]) {
      statuses.push((await ask(second, token, '/customer')).status);
    }
    await first.close();
    await second.close();
    expect(statuses).toEqual([401, 401, 401, 200]);
  });

  it('is without limits', async () => {
    await using folder = await createFolder();
    const instance = await openInstance({ db: join(folder.path, 'lkm.db') });
    const { headers } = await ask(instance, instance.ownerToken, '/customer');
    await instance.close();
    expect(Object.keys(headers).sort()).toEqual([
      'cache-control',
      'content-type',
      'x-content-type-options',
      'x-request-id',
    ]);
  });

  it('waits for another instance that is about to end', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const first = await openInstance({ db });
    const second = openInstance({ db });
    await first.close();
    await (await second).close();
  });

  it('does not wait longer than it is told', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const first = await openInstance({ db });
    await expect(openInstance({ db, waitMs: 0 })).rejects.toMatchObject({
      name: 'StartupError',
      message: `${db} is in use by process ${process.pid}`,
    });
    await first.close();
  });

  it('makes no database, when it must not, and opens one that is there', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const missing = openInstance({ db, create: false });
    await expect(missing).rejects.toMatchObject({ name: 'StartupError', message: `${db} does not exist` });
    await (await openInstance({ db })).close();
    await (await openInstance({ db, create: false })).close();
  });

  it('says in words why the database failed', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const instance = await openInstance({ db });
    expect(instance.failure).toBeNull();
    const other = new DatabaseSync(db);
    other.exec('begin immediate');
    const body = JSON.stringify({ name: 'Engine' });
    const headers = { authorization: `Bearer ${instance.ownerToken}`, 'content-type': 'application/json' };
    const request = new Request('http://127.0.0.1/product', { method: 'POST', headers, body });
    expect((await instance.fetch(request)).status).toBe(500);
    other.close();
    expect(instance.failure?.message).toBe(`${db} is in use by another program`);
    await instance.close();
  }, 20_000);
});

async function ask(
  { fetch }: { fetch: (request: Request) => Promise<Response> },
  token: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  return readAnswer(await fetch(new Request(`http://lkm.test${path}`, { headers, ...sent })));
}
