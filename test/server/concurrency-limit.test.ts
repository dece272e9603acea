import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApp } from '../../src/server/http/app.ts';
import { trustProxies } from '../../src/server/http/client-address.ts';
import { createConcurrencyLimit } from '../../src/server/http/concurrency-limit.ts';
import { listen } from '../../src/server/http/transport/listen.ts';
import { createLog } from '../../src/server/log.ts';
import { openBase } from '../../src/server/runtime.ts';
import { createFirstToken } from '../../src/service/accounts.ts';
import { createFolder } from '../support/engines.ts';
import { openConnection } from '../support/raw-http.ts';
import { startTestServer } from '../support/server.ts';
import { readAnswer } from '../support/world.ts';

describe('the concurrency limit', () => {
  it('let so many run, and the others after them in the order of their arrival', async () => {
    const limit = createConcurrencyLimit({ maxRunning: 2, maxWaiting: 3 });
    const begun: number[] = [];
    const works = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const taken = works.map(({ promise }, index) =>
      limit.run(async () => {
        begun.push(index);
        await promise;
        return index;
      }),
    );
    await new Promise(setImmediate);
    expect(begun).toEqual([0, 1]);
    works[1]?.resolve();
    await taken[1];
    await new Promise(setImmediate);
    expect(begun).toEqual([0, 1, 2]);
    for (const { resolve } of works) resolve();
    expect(await Promise.all(taken)).toEqual([0, 1, 2, 3, 4]);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  it('refuse one more than may wait, and take the next one when there is room again', async () => {
    const limit = createConcurrencyLimit({ maxRunning: 1, maxWaiting: 1 });
    const held = Promise.withResolvers<void>();
    const taken = [limit.run(() => held.promise), limit.run(async () => {})];
    await expect(limit.run(async () => {})).rejects.toMatchObject({ reason: 'unavailable' });
    held.resolve();
    await Promise.all(taken);
    expect(await limit.run(async () => 'done')).toBe('done');
  });

  it('are given back by work that fails', async () => {
    const limit = createConcurrencyLimit({ maxRunning: 1, maxWaiting: 0 });
    const failing = () => Promise.reject(new Error('it failed'));
    await expect(limit.run(failing)).rejects.toThrow('it failed');
    await expect(limit.run(failing)).rejects.toThrow('it failed');
  });
});

/** A server whose mutations under a key wait until they are let go. */
async function serveHeld(limits: { maxRunning: number; maxWaiting: number }) {
  const folder = await createFolder();
  const { store, accountId, parts } = await openBase(join(folder.path, 'lkm.db'), {});
  const token = await store.transaction((repositories) =>
    createFirstToken(repositories, { ...parts, accountId, now: parts.now() }),
  );
  const held = Promise.withResolvers<void>();
  const app = createApp({
    ...parts,
    exactlyOnce: async (claim, perform) => {
      await held.promise;
      return parts.exactlyOnce(claim, perform);
    },
    log: await createLog('none', { write: () => {} }),
    door: 'http',
    limiter: null,
    addressOf: trustProxies([]),
    concurrencyLimit: createConcurrencyLimit(limits),
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    held.resolve();
    await server.close();
    await store.close();
    await folder[Symbol.asyncDispose]();
  });
  const call = async (method: string, path: string, name?: string) =>
    readAnswer(
      await fetch(server.url + path, {
        method,
        headers: {
          Authorization: `Bearer ${token}`,
          ...(name === undefined ? {} : { 'Content-Type': 'application/json', 'Idempotency-Key': name }),
        },
        ...(name === undefined ? {} : { body: JSON.stringify({ name }) }),
      }),
    );
  return { call, release: held.resolve };
}

describe('a server with more requests than it may hold', () => {
  it('answers 503 to one more, which has not happened, and goes on with the others', async () => {
    const { call, release } = await serveHeld({ maxRunning: 2, maxWaiting: 1 });
    const names = ['first', 'second', 'third', 'fourth'];
    const sent = names.map((name) => call('POST', '/customer', name));
    // The others are held.
    const refused = await Promise.race(sent);
    expect(refused).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { message: 'Service unavailable', code: 1 },
    });
    expect(await call('GET', '/customer')).toMatchObject({ status: 503 });
    expect(await call('GET', '/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await call('GET', '/ready')).toMatchObject({ status: 200, body: { status: 'ready' } });

    release();
    const answers = await Promise.all(sent);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 503]);
    const done = names.filter((_, index) => answers[index]?.status === 201).sort();
    const customers = async () => (await call('GET', '/customer')).body.data.map(({ name }: { name: string }) => name);
    expect((await customers()).sort()).toEqual(done);
    const again = names[answers.indexOf(refused)];
    expect(await call('POST', '/customer', again)).toMatchObject({ status: 201 });
    expect((await customers()).sort()).toEqual(names.toSorted());
  });

  it('does not count those whose body has not come yet', async () => {
    await using service = await startTestServer({ requests: { maxRunning: 1, maxWaiting: 0 } });
    using slow = openConnection(service.server.port);
    slow.send(
      'POST /customer HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${service.adminToken}`,
      'Content-Type: application/json',
      'Content-Length: 15',
      'Expect: 100-continue',
      '',
      '',
    );
    await slow.until(/100 Continue/);
    expect((await service.call('GET', '/customer')).status).toBe(200);
    slow.send('{"name":"slow"}');
    await slow.until(/HTTP\/1\.1 201/);
  });
});
