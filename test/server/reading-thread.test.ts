import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, it, vi } from 'vitest';
import { findThread } from '../../faults/process.ts';
import type { Caller } from '../../src/domain/access.ts';
import { createPlacesOfReads, createReadingThread } from '../../src/server/reading/reading-thread.ts';
import { createFolder } from '../support/engines.ts';
import { openConnection } from '../support/raw-http.ts';
import { startTestServer } from '../support/server.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The next thread that this process starts. */
const nextThread = () => new Promise<Worker>((resolve) => process.once('worker', resolve));

/** A server with so many customers, and a product. */
async function startFilled(customers = 2_000) {
  const folder = await createFolder();
  const db = join(folder.path, 'lkm.db');
  const service = await startTestServer({ db, rateLimit: null });
  const { data: product } = (await service.call('POST', '/product', { name: 'Editor' })).body;
  using file = new DatabaseSync(db, { timeout: 5_000 });
  file.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${customers})
    insert into customers (account_id, id, name, email, email_key, active, created_at, updated_at)
    select (select id from accounts), 'cus_' || substr('00000000000000000000000000' || i, -26), 'Größe 🗝 ' || i,
      null, null, 1, '2026-11-21T10:00:00.000Z', '2026-11-21T10:00:00.000Z' from n`);
  return {
    ...service,
    db,
    productId: product.id as string,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

it('lists, numbers and exports are read in one thread, which starts with the first of them and sees what was written before', async () => {
  await using service = await startFilled();
  expect(findThread(process.pid, 'lkm-reader')).toBeNull();
  const { key } = (await service.call('POST', '/create-key', { productId: service.productId })).body;
  expect((await service.call('GET', '/key/list?cursor=')).body).toMatchObject({
    data: [{ key }],
    meta: { limit: 100, next: null },
  });
  const thread = findThread(process.pid, 'lkm-reader');
  expect(thread).toEqual(expect.any(Number));
  expect((await service.call('GET', '/customer?page=2&limit=3')).body).toMatchObject({
    data: [{ name: 'Größe 🗝 4' }, { name: 'Größe 🗝 5' }, { name: 'Größe 🗝 6' }],
    meta: { total: 2_000, page: 2, limit: 3, totalPages: 667 },
  });
  expect((await service.call('GET', '/customer')).body.data).toHaveLength(2_000);
  expect((await service.call('GET', '/stats')).body.data.keys).toMatchObject({ total: 1, unused: 1 });
  expect((await service.call('GET', '/event/list')).body.data).toContainEqual(
    expect.objectContaining({ type: 'license.created' }),
  );
  expect(findThread(process.pid, 'lkm-reader')).toBe(thread);
  await service.server.close();
  expect(findThread(process.pid, 'lkm-reader')).toBeNull();
});

it('a refusal in the thread is the same as any', async () => {
  await using service = await startFilled(1);
  const unknown = `cus_${'9'.repeat(26)}`;
  expect(await service.call('GET', `/customer/keys?customerId=${unknown}`)).toMatchObject({
    status: 404,
    body: { message: `Customer ${unknown} not found`, code: 2 },
  });
  expect(await service.call('GET', '/event/list?after=999')).toMatchObject({ status: 409, body: { code: 22 } });
});

it('a table that is gone is an error of the database, and the thread goes on', async () => {
  await using service = await startFilled(1);
  using file = new DatabaseSync(service.db, { timeout: 5_000 });
  file.exec('alter table customers rename to gone');
  expect((await service.call('GET', '/customer')).status).toBe(500);
  expect(await service.logged({ msg: 'request failed' })).toMatchObject({
    err: { message: 'the database failed: no such table: customers' },
  });
  file.exec('alter table gone rename to customers');
  expect((await service.call('GET', '/customer')).status).toBe(200);
});

it('a read fails with its thread, and the next one has another', async () => {
  await using service = await startFilled();
  const thread = nextThread();
  const lost = service.call('GET', '/customer');
  const worker = await thread;
  await once(worker, 'online');
  await worker.terminate();
  expect((await lost).status).toBe(500);
  expect((await service.call('GET', '/customer?page=1')).body.meta.total).toBe(2_000);
});

it('a thread does not start on a database that is not at its path any more', async () => {
  await using service = await startFilled(1);
  renameSync(service.db, `${service.db}.moved`);
  expect((await service.call('GET', '/customer')).status).toBe(500);
  renameSync(`${service.db}.moved`, service.db);
  expect((await service.call('GET', '/customer')).status).toBe(200);
});

it('a caller who hangs up is not read for: neither in the queue, nor in the middle of a list', async () => {
  await using service = await startFilled();
  await service.call('GET', '/customer?page=1');
  const { postMessage } = Worker.prototype;
  const told = vi.spyOn(Worker.prototype, 'postMessage');
  const ask = (...paths: string[]) => {
    const socket = openConnection(service.server.port);
    for (const path of paths) {
      socket.send(`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${service.adminToken}`, '', '');
    }
    return socket;
  };
  // The thread does not learn of the two that have a place until the others have hung up.
  const held: (() => void)[] = [];
  told.mockImplementation(function hold(this: Worker, ...message: Parameters<Worker['postMessage']>) {
    held.push(() => postMessage.apply(this, message));
  });
  const sockets = Array.from({ length: 20 }, () => ask('/health', '/customer?email=none&page=1'));
  // Each list is asked for once the response before it was sent.
  for (const socket of sockets) await socket.until(/HTTP\/1\.1 200/);
  await vi.waitFor(() => expect(held).toHaveLength(2));
  for (const socket of sockets) socket[Symbol.dispose]();
  await service.logged({ route: '/customer', status: 400 }, 17);
  told.mockRestore();
  const after = vi.spyOn(Worker.prototype, 'postMessage');
  for (const send of held) send();
  expect((await service.call('GET', '/customer?page=1&limit=1')).status).toBe(200);
  const begun = after.mock.calls.filter(([message]) => Object(message.next).operation === 'customers.list');
  expect(begun).toHaveLength(1);
  const reading = ask('/customer');
  await reading.until(/HTTP\/1\.1 200/);
  reading[Symbol.dispose]();
  await vi.waitFor(() => expect(after).toHaveBeenLastCalledWith(expect.objectContaining({ next: 'nothing' })));
});

it('of one token two are read at a time, and 32 wait; another token has places of its own', async () => {
  const places = createPlacesOfReads();
  const held = Promise.withResolvers<void>();
  const begun: string[] = [];
  const run = (token: string, onClose?: (work: () => void) => void) =>
    places.run(
      token,
      async () => {
        begun.push(token);
        await held.promise;
      },
      onClose,
    );
  const all = Array.from({ length: 34 }, () => run('greedy'));
  await expect(run('greedy')).rejects.toMatchObject({
    reason: 'unavailable',
    cause: { name: 'Overload', message: '32 reads of many rows wait, 32 of them of this token' },
  });
  all.push(run('modest'), run('modest'), run('modest'));
  await nextTurn();
  expect(begun).toEqual(['greedy', 'greedy', 'modest', 'modest']);
  held.resolve();
  await Promise.all(all);
  expect(begun).toHaveLength(37);
});

it('eight are read at a time, and 128 wait, whoever asks', async () => {
  const places = createPlacesOfReads();
  const held = Promise.withResolvers<void>();
  let begun = 0;
  const run = (token: number) =>
    places.run(`${token}`, async () => {
      begun += 1;
      await held.promise;
    });
  const all = Array.from({ length: 136 }, (_, index) => run(index >> 1));
  await nextTurn();
  expect(begun).toBe(8);
  await expect(run(200)).rejects.toMatchObject({ reason: 'unavailable' });
  held.resolve();
  await Promise.all(all);
  expect(begun).toBe(136);
});

it('a caller who hangs up leaves the queue, and nobody else does', async () => {
  const places = createPlacesOfReads();
  const held = Promise.withResolvers<string>();
  const running = [1, 2].map(() => places.run('one', () => held.promise));
  const closed: (() => void)[] = [];
  const waiting = Array.from({ length: 3 }, (_, index) =>
    places.run(
      'one',
      async () => `read ${index}`,
      (work) => closed.push(work),
    ),
  );
  closed[1]?.();
  await expect(waiting[1]).rejects.toMatchObject({ reason: 'invalidParams' });
  held.resolve('done');
  expect(await Promise.all(running)).toEqual(['done', 'done']);
  expect(await Promise.all([waiting[0], waiting[2]])).toEqual(['read 0', 'read 2']);
  closed[0]?.();
});

it('too many reads are refused with 503 and Retry-After, and logged as overload, not as a failure', async () => {
  await using service = await startFilled(20_000);
  const asked = Array.from({ length: 60 }, () => service.call('GET', '/customer?email=none&page=1'));
  const answers = await Promise.all(asked);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) {
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { code: 1, message: 'Service unavailable' },
    });
  }
  expect(await service.logged({ msg: 'overload' })).toMatchObject({
    level: 40,
    problem: '32 reads of many rows wait, 32 of them of this token',
  });
});

it('the next read waits until a log that is too long has begun anew, or for a moment', async () => {
  const folder = await createFolder();
  const service = await startTestServer({ db: join(folder.path, 'lkm.db') });
  await service.server.close();
  let looks = 0;
  const file = {
    path: join(folder.path, 'lkm.db'),
    check() {},
    isLogTooLong() {
      looks += 1;
      return looks < 4;
    },
    copyLogBy() {},
  };
  const thread = createReadingThread(file, null);
  const caller = { accountId: 'acc', tokenId: null, productIds: null } as unknown as Caller;
  const request = { httpRequest: {}, route: { name: 'products.list' }, caller, now: '', ipAddress: '' };
  const read = await thread.read(request as never, { page: 1 });
  expect([looks, JSON.parse(read.body as string).meta.total]).toEqual([4, 0]);
  await thread.close();
  await expect(thread.read(request as never, { page: 1 })).rejects.toThrow('the database was closed');
  await service[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});
