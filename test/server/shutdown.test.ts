import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, onTestFinished } from 'vitest';
import { selfSigned } from '../client/self-signed.ts';
import { engines } from '../support/engines.ts';
import { test as it } from '../support/fixtures.ts';
import { openConnection } from '../support/raw-http.ts';
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
  onTestFinished(() => {
    socket.destroy();
  });
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
    async ({ text, tls }) => {
      await using service = await startTestServer({ drainMs: 300, ...(tls && { tls: selfSigned }) });
      await leaveUnfinished(service, text, tls);
      const started = performance.now();
      await service.server.close();
      expect(performance.now() - started).toBeLessThan(3_000);
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

  it('tells the caller of the request in flight that the connection ends with it', async ({ service }) => {
    const body = '{"name":"Acme"}';
    using connection = openConnection(service.server.port);
    connection.send(
      'POST /customer HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${service.adminToken}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
      '',
      '',
    );
    await connection.until(/100 Continue/);
    const closed = service.server.close();
    connection.send(body);
    expect(await connection.end()).toMatch(/HTTP\/1\.1 201 [\s\S]*Connection: close/);
    await closed;
  });
});

describe.each(engines)('on $name, a server that stops', (engine) => {
  it('does not wait for a silent connection', async () => {
    await using database = await engine.createDatabase();
    await database.store.close();
    await using service = await startTestServer({ db: database.location, drainMs: 300 });
    await leaveUnfinished(service, unfinished['half of its headers'], false);
    const started = performance.now();
    await service.server.close();
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});
