import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { describe, expect, onTestFinished } from 'vitest';
import { selfSigned } from '../client/self-signed.ts';
import { test as it } from '../support/fixtures.ts';
import { exchange, openConnection } from '../support/raw-http.ts';
import { startTestServer } from '../support/server.ts';

const MIB = 1_048_576;

const invalidToken = '{"message":"Invalid access token","code":1}';

describe('requests as no client of ours writes them', () => {
  it('answers HEAD as GET, without the body', async ({ service }) => {
    const answer = await fetch(`${service.server.url}/customer`, {
      method: 'HEAD',
      headers: { Authorization: `Bearer ${service.adminToken}` },
    });
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      200,
      'application/json',
      '',
    ]);
  });

  it('takes a request for an absolute address as one for its path', async ({ service }) => {
    const text = await exchange(service.server.port, [
      'GET http://localhost/customer HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${service.adminToken}`,
    ]);
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"action":"customers\.list","status":true,"data":\[\],"code":0\}$/);
  });

  it('lets nobody in with two Authorization headers, whichever is good', async ({ service }) => {
    const good = `Authorization: Bearer ${service.adminToken}`;
    const bad = 'Authorization: Bearer nothing';
    for (const headers of [
      [good, bad],
      [bad, good],
      [good, good],
    ]) {
      const text = await exchange(service.server.port, ['GET /customer HTTP/1.1', 'Host: localhost', ...headers]);
      expect(text).toMatch(/^HTTP\/1\.1 401 /);
      expect(text).toContain(invalidToken);
    }
  });

  it.each([
    ['announced', { 'Content-Length': String(2 * MIB) }],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }],
  ])('refuses a body of 2 MiB, %s, and goes on', async (_, headers) => {
    await using service = await startTestServer();
    const sent = httpRequest(`${service.server.url}/customer`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.adminToken}`, 'Content-Type': 'application/json', ...headers },
    });
    // The server may hang up on what it does not want to read.
    sent.on('error', () => {});
    sent.end(Buffer.alloc(2 * MIB, ' '));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(413);
    expect(await textOf(answer)).toBe('{"message":"Request body too large","code":1}');
    expect((await service.call('GET', '/customer')).body.data).toEqual([]);
  });

  it('writes nothing when the caller hangs up in the middle of a body, and does not count it as a failure', async ({
    service,
  }) => {
    {
      using connection = openConnection(service.server.port);
      connection.send(...postHead(service.adminToken, 100), '', '');
      await connection.until(/100 Continue/);
      connection.send('{"name":"Acme"}');
    }
    expect(await service.logged({ method: 'POST' })).toMatchObject({ level: 30, route: '/customer', status: 400 });
    expect((await service.call('GET', '/customer')).body.data).toEqual([]);
  });
});

describe('slow clients', () => {
  it('are given 10 s for the headers, 12 s for the request, and 65 s between requests', async () => {
    const servers = watchServers();
    await using service = await startTestServer();
    await service.call('GET', '/health');
    const { headersTimeout, requestTimeout, keepAliveTimeout } = servers.at(service.server.port);
    expect({ headersTimeout, requestTimeout, keepAliveTimeout }).toEqual({
      headersTimeout: 10_000,
      requestTimeout: 12_000,
      keepAliveTimeout: 65_000,
    });
  });

  it.each([
    ['headers that never end', 'headersTimeout', ['GET /customer HTTP/1.1', 'Host: localhost', 'X-Slow']],
    ['a body that never ends', 'requestTimeout', [...postHead('nothing', 100), '', '{']],
  ] as const)('are cut off with %s', async (_, timeout, lines) => {
    const servers = watchServers();
    await using service = await startTestServer();
    await service.call('GET', '/health');
    servers.at(service.server.port)[timeout] = 1;
    using connection = openConnection(service.server.port);
    connection.send(...lines);
    expect(await connection.end()).not.toMatch(/ 200 /);
    expect((await service.call('GET', '/customer')).status).toBe(200);
  });
});

describe('a caller that is refused before its body has come', () => {
  it.each([
    ['without a token', 'nothing', 401],
    ['with too much', null, 413],
  ])('reads why, %s, and cannot go on sending for ever', async (_, token, status) => {
    const servers = watchServers();
    await using service = await startTestServer();
    await service.call('GET', '/health');
    // Nothing else is to cut it off.
    Object.assign(servers.at(service.server.port), { headersTimeout: 0, requestTimeout: 0 });
    using connection = openConnection(service.server.port);
    connection.send(
      'POST /customer HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${token ?? service.adminToken}`,
      'Transfer-Encoding: chunked',
      '',
      '',
    );
    const flood = setInterval(() => connection.send('10000', ' '.repeat(0x10000), ''), 1);
    onTestFinished(() => clearInterval(flood));
    expect(await connection.end()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });
});

describe('close', () => {
  it('finishes the request in flight, keeps what it wrote, and accepts no other', async ({ service }) => {
    const body = '{"name":"Acme"}';
    using connection = openConnection(service.server.port);
    connection.send(...postHead(service.adminToken, body.length), '', '');
    await connection.until(/100 Continue/);

    const closed = service.server.close();
    await expect(fetch(service.server.url)).rejects.toThrow('fetch failed');
    connection.send(body);
    const text = await connection.end();
    await closed;

    expect(text).toMatch(/HTTP\/1\.1 201 [\s\S]*"name":"Acme"/);
  });

  it('does not wait for connections that are kept alive without a request', async ({ service }) => {
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const sent = httpRequest(`${service.server.url}/health`, { agent }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await textOf(answer);
    const [socket] = Object.values(agent.freeSockets).flat();
    await Promise.all([service.server.close(), socket && once(socket, 'close')]);
  });
});

describe('over HTTPS', () => {
  it('serves with the certificate it is given', async () => {
    await using service = await startTestServer({ tls: selfSigned });
    expect(service.server.url).toBe(`https://127.0.0.1:${service.server.port}`);
    const sent = httpsRequest(`${service.server.url}/health`, { ca: selfSigned.cert, agent: false }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(await textOf(answer)).toBe('{"status":"ok"}');
  });
});

/** The head of a request whose body is waited for, so that a test knows when the server has begun with it. */
function postHead(token: string, length: number): string[] {
  return [
    'POST /customer HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    'Expect: 100-continue',
  ];
}

/** Node's own server objects, by port, as its diagnostics show them: their timeouts can be read, and shortened. */
function watchServers() {
  const found = new Map<unknown, Server>();
  const started = channel('http.server.request.start');
  const see = (message: unknown) => {
    const { server } = message as { server: Server };
    const address = server.address();
    if (address !== null && typeof address === 'object') found.set(address.port, server);
  };
  started.subscribe(see);
  onTestFinished(() => {
    started.unsubscribe(see);
  });
  return {
    at: (port: number): Server => {
      const server = found.get(port);
      if (server === undefined) throw new Error(`no server was seen on port ${port}`);
      return server;
    },
  };
}

async function textOf(message: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of message) text += chunk;
  return text;
}
