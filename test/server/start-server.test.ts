import { chmodSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { apiVersion } from '../../src/contract/index.ts';
import { openInstance, startServer } from '../../src/server/index.ts';
import { test as it } from '../support/fixtures.ts';
import { startTestServer } from '../support/server.ts';

const quiet = { host: '127.0.0.1', port: 0, logFormat: 'none', logTo: { write: () => {} } } as const;

const statusFor = async (url: string, token: string | undefined) =>
  (await fetch(`${url}/customer`, { headers: { Authorization: `Bearer ${token}` } })).status;

describe('a new database', () => {
  it('gets an account and an admin token that works, shown this once', async ({ db }) => {
    const first = await startServer({ ...quiet, db });
    expect(first).toMatchObject({
      url: `http://127.0.0.1:${first.port}`,
      db,
      isNew: true,
      created: {
        accountId: expect.stringMatching(/^acc_[0-9a-z]{26}$/),
        adminToken: expect.stringMatching(/^lkm_admin_/),
      },
    });
    expect(await statusFor(first.url, first.created?.adminToken)).toBe(200);
    await first.close();

    const second = await startServer({ ...quiet, db });
    expect(second.created).toBeNull();
    expect(await statusFor(second.url, first.created?.adminToken)).toBe(200);
    await second.close();
  });

  it('takes over the work of a server that was killed', async ({ db }) => {
    const first = await startServer({ ...quiet, db });
    const headers = { Authorization: `Bearer ${first.created?.adminToken}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ url: 'https://shop.example.com/', active: false });
    expect((await fetch(`${first.url}/webhook`, { method: 'POST', headers, body })).status).toBe(201);
    await first.close();
    const database = new DatabaseSync(db);
    database.exec(`update webhooks set lease = 'of the killed one', lease_until = '2999-01-01T00:00:00.000Z'`);
    database.close();
    const second = await startServer({ ...quiet, db });
    await second.close();
    using after = new DatabaseSync(db, { readOnly: true });
    expect(after.prepare('select lease, lease_until from webhooks').all()).toEqual([
      { lease: null, lease_until: null },
    ]);
  });

  it('gets its token from its first server, also when it was made without one', async ({ db }) => {
    await (await openInstance({ db })).close();
    const server = await startServer({ ...quiet, db });
    expect(server).toMatchObject({ isNew: false, created: { adminToken: expect.stringMatching(/^lkm_admin_/) } });
    await server.close();
  });
});

describe('a server that cannot start', () => {
  it('says that the port is in use, and lets go of the database, of which the next that starts makes the token', async ({
    service,
    db,
  }) => {
    const { port } = service.server;
    await expect(startServer({ ...quiet, db, port })).rejects.toMatchObject({
      name: 'StartupError',
      message: `port ${port} on 127.0.0.1 is in use`,
      hint: 'give another address with --port',
    });
    const server = await startServer({ ...quiet, db });
    expect(server).toMatchObject({ isNew: false, created: { adminToken: expect.stringMatching(/^lkm_admin_/) } });
    const headers = { Authorization: `Bearer ${server.created?.adminToken}` };
    const listed = await (await fetch(`${server.url}/token`, { headers })).text();
    expect(JSON.parse(listed).data).toHaveLength(1);
    await server.close();
  });
  it('says that the address is not one of this machine', async ({ db }) => {
    const options = { ...quiet, behindProxy: ['10.0.0.0/8'], db, host: '203.0.113.7' };
    await expect(startServer(options)).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringContaining('cannot listen on 203.0.113.7'),
    });
  });

  it('makes no database when the proxies are not networks', async ({ folder, db }) => {
    await expect(startServer({ ...quiet, db, behindProxy: ['localhost'] })).rejects.toThrow(
      'localhost is not a network of proxies',
    );
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('makes no database when the signatures of webhooks cannot be in the header', async ({ folder, db }) => {
    const webhooks = { signatureHeader: 'user-agent' };
    await expect(startServer({ ...quiet, db, webhooks })).rejects.toMatchObject({
      name: 'StartupError',
      message: "'user-agent' is a header that means something else",
    });
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe('the pages beside the API', () => {
  it.each([
    ['/health', { status: 'ok' }],
    ['/ready', { status: 'ready' }],
    [
      '/openapi.json',
      expect.objectContaining({ openapi: '3.1.1', info: expect.objectContaining({ version: apiVersion }) }),
    ],
  ])('%s answers without a token', async (path, body) => {
    await using service = await startTestServer();
    const answer = await service.call('GET', path, undefined, { Authorization: '' });
    expect([answer.status, answer.headers['content-type'], answer.body]).toEqual([200, 'application/json', body]);
  });
});

describe('the address of a device', () => {
  it.each([
    ['that of the connection', undefined, '127.0.0.1'],
    ['what the proxy says when there is one', ['127.0.0.1/32'], '203.0.113.7'],
  ])('is %s', async (_, behindProxy, ipAddress) => {
    await using service = await startTestServer(behindProxy ? { behindProxy } : {});
    const { id: productId } = (await service.call('POST', '/product', { name: 'Editor' })).body.data;
    const { key: licenseKey } = (await service.call('POST', '/create-key', { productId })).body;
    const forwarded = { 'X-Forwarded-For': '198.51.100.1, 203.0.113.7' };
    await service.call('POST', '/key/sign', { productId, licenseKey, hostId: 'host-1' }, forwarded);
    const { body } = await service.call('GET', `/key?${new URLSearchParams({ productId, licenseKey })}`);
    expect(body.data.license.devices[0].ipAddress).toBe(ipAddress);
  });
});

describe('the limits that are set', () => {
  it.each([
    ['6000 requests a minute unless told otherwise', {}, '"requests";q=6000;w=60'],
    ['as many as told', { rateLimit: 7 }, '"requests";q=7;w=60'],
    ['none', { rateLimit: null }, undefined],
  ])('are %s', async (_, options, policy) => {
    await using service = await startTestServer(options);
    expect((await service.call('GET', '/customer')).headers['ratelimit-policy']).toBe(policy);
  });
});

describe('a database that others may read', () => {
  it('is served with a warning in the log, and keeps its mode', async ({ db }) => {
    await (await startServer({ ...quiet, db })).close();
    chmodSync(db, 0o644);
    await using running = await startTestServer({ db });
    const msg = `${db} holds private keys, and others than its owner may open it (mode 644)`;
    expect(await running.logged({ msg })).toMatchObject({ level: 40 });
    expect(statSync(db).mode & 0o777).toBe(0o644);
  });
});

describe('a database file that is removed while it is served', () => {
  it('makes the server not ready, and changes nothing any more', async ({ folder, db }) => {
    await using running = await startTestServer({ db });
    expect((await running.call('GET', '/ready')).status).toBe(200);
    renameSync(db, join(folder.path, 'moved.db'));
    expect((await running.call('GET', '/ready')).status).toBe(503);
    expect((await running.call('POST', '/product', { name: 'Editor' })).status).toBe(500);
    const withKey = await running.call('POST', '/product', { name: 'Editor' }, { 'Idempotency-Key': 'k' });
    expect(withKey.status).toBe(503);
    renameSync(join(folder.path, 'moved.db'), db);
    const again = await running.call('POST', '/product', { name: 'Editor' }, { 'Idempotency-Key': 'k' });
    expect(again.status).toBe(201);
  });
});
