import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, onTestFinished } from 'vitest';
import { startServer } from '../../src/server/index.ts';
import { selfSigned } from '../support/certificates.ts';
import { engines } from '../support/engines.ts';
import { test as it } from '../support/fixtures.ts';
import { openConnection, postHead } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** What a caller has sent when the server stops. */
const unfinished = {
  nothing: '',
  'half of its headers': 'GET /health HTTP/1.1\r\nHost: local',
  'half of a body': 'POST /customer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"na',
  'half of a second request': 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HT',
};

/** Opens a connection on which nothing more will come, once the server has read what is sent. */
async function leaveUnfinished({ server, adminToken }: TestServer, text: string, tls: boolean): Promise<void> {
  const socket = tls
    ? connectTls({ port: server.port, host: '127.0.0.1', ca: selfSigned.cert, checkServerIdentity: () => undefined })
    : connect(server.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, tls ? 'secureConnect' : 'connect');
  const sent = text.replace('\r\nContent', `\r\nAuthorization: Bearer ${adminToken}\r\nContent`);
  if (sent !== '') await new Promise((done) => socket.write(sent, done));
  socket.resume();
  // A request on another connection is answered after what this one has sent was read.
  await (await fetch(`http${tls ? 's' : ''}://127.0.0.1:${server.port}/health`).catch(() => null))?.text();
}

describe('a server that stops', () => {
  it.each(Object.entries(unfinished).flatMap(([what, text]) => [false, true].map((tls) => ({ what, text, tls }))))(
    'does not wait longer than it drains for a caller that has sent $what (TLS: $tls)',
    // Sooner than any limit of a connection would end it.
    { timeout: 8_000 },
    async ({ text, tls }) => {
      await using service = await startTestServer({ drainMs: 300, ...(tls && { tls: selfSigned }) });
      await leaveUnfinished(service, text, tls);
      await service.server.close();
      // The database is free again.
      await using again = await startTestServer({ db: service.server.db });
      expect(again.server.created).toBeNull();
    },
  );

  it('closes at once what has never sent anything, over TLS too', async () => {
    for (const tls of [false, true]) {
      await using service = await startTestServer({ drainMs: 60_000, ...(tls && { tls: selfSigned }) });
      const socket = connect(service.server.port, '127.0.0.1');
      await once(socket, 'connect');
      await (await fetch(`http://127.0.0.1:${service.server.port}/health`).catch(() => null))?.text();
      await Promise.all([service.server.close(), once(socket.resume(), 'close')]);
    }
  });

  it('does not wait for connections that are kept alive without a request', async ({ service }) => {
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const sent = httpRequest(`${service.server.url}/health`, { agent }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await answer.toArray();
    const [socket] = Object.values(agent.freeSockets).flat();
    await Promise.all([service.server.close(), socket && once(socket, 'close')]);
  });

  it('finishes the request in flight, with which its connection ends, and accepts no other', async ({ service }) => {
    const body = '{"name":"Acme"}';
    using connection = openConnection(service.server.port);
    connection.send(...postHead(service.adminToken, body.length), '', '');
    await connection.until(/100 Continue/);
    const closed = service.server.close();
    await expect(fetch(service.server.url)).rejects.toThrow('fetch failed');
    connection.send(body);
    expect(await connection.end()).toMatch(/HTTP\/1\.1 201 [\s\S]*Connection: close[\s\S]*"name":"Acme"/);
    await closed;
  });
});

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
      const head = postHead(service.adminToken, 100).filter((line) => !line.startsWith('Expect'));
      socket.write([...head, '', '{'].join('\r\n'), () => socket.resetAndDestroy());
      await new Promise((done) => socket.once('close', done));
      // Each request leaves its line in the log when it ends.
      expect(await service.logged({ method: 'POST', status: 400 }, index)).toMatchObject({ route: '/customer' });
    }
  });
});

it('a server that cannot tell where it is does not go on listening on a closed database', async ({ db }) => {
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
    return Date.UTC(2026, 10, 21);
  };
  await expect(startServer({ ...options, clock })).rejects.toMatchObject({ code: 'ERR_FS_EISDIR' });
  await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow('fetch failed');
});
