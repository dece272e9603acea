import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { describe, expect } from 'vitest';
import { startServer } from '../../src/server/index.ts';
import { engines } from '../support/engines.ts';
import { test as it } from '../support/fixtures.ts';
import { startTestServer } from '../support/server.ts';

describe('a caller that resets its connection right after its request', () => {
  it('is never recorded under an address that is not its own', async ({ service }) => {
    const { id: productId } = (await service.call('POST', '/product', { name: 'Editor' })).body.data;
    const { key: licenseKey } = (await service.call('POST', '/create-key', { productId })).body;
    for (let index = 0; index < 40; index += 1) {
      const body = JSON.stringify({ productId, licenseKey, hostId: `host-${index}` });
      const socket = connect({ port: service.server.port, host: '127.0.0.1', localAddress: '127.0.0.9' });
      socket.on('error', () => {});
      await once(socket, 'connect');
      const head = `POST /key/sign HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${service.adminToken}\r\n`;
      socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`, () => {
        // One half is reset before the server can have seen the request, the other while it works on it.
        if (index % 2 === 0) socket.resetAndDestroy();
        else setImmediate(() => socket.resetAndDestroy());
      });
      await new Promise((done) => socket.once('close', done));
    }
    await service.call('POST', '/key/sign', { productId, licenseKey, hostId: 'host-last' });
    const { body } = await service.call('GET', `/key?${new URLSearchParams({ productId, licenseKey })}`);
    const devices = body.data.license.devices as { hostId: string; ipAddress: string }[];
    const wrong = devices.filter(({ hostId, ipAddress }) => hostId !== 'host-last' && ipAddress !== '127.0.0.9');
    expect(wrong).toEqual([]);
  });
});

describe.each(engines)('on $name, a caller that leaves while its token is looked up', (engine) => {
  it('leaves nothing behind: its request ends', async () => {
    await using database = await engine.createDatabase();
    await database.store.close();
    await using service = await startTestServer({ db: database.location, connections: { stallMs: 60_000 } });
    for (let index = 0; index < 10; index += 1) {
      const socket = connect(service.server.port, '127.0.0.1').on('error', () => {});
      await once(socket, 'connect');
      const head = `POST /customer HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${service.adminToken}\r\n`;
      socket.write(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`, () =>
        socket.resetAndDestroy(),
      );
      await new Promise((done) => socket.once('close', done));
      // Each request leaves its line in the log when it ends.
      expect(await service.logged({ method: 'POST', status: 400 }, index)).toMatchObject({ route: '/customer' });
    }
  });
});

describe('a server that cannot tell where it is', () => {
  it('does not go on listening on a closed database', async ({ db }) => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as { port: number };
    free.close();
    await once(free, 'close');
    const options = { db, host: '127.0.0.1', port, logFormat: 'none', logTo: { write: () => {} } } as const;
    // First asked when the database is open: from then on the address cannot be written, since a folder stands there.
    const clock = () => {
      rmSync(`${db}-owner`, { recursive: true });
      mkdirSync(`${db}-owner`);
      return Date.now();
    };
    await expect(startServer({ ...options, clock })).rejects.toMatchObject({ code: 'ERR_FS_EISDIR' });
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow('fetch failed');
  });
});
