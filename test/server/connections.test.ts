import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, onTestFinished, vi } from 'vitest';
import type { App } from '../../src/server/http/app.ts';
import type { HttpResponse } from '../../src/server/http/messages.ts';
import { createConnections, DEFAULT_CONNECTION_LIMITS } from '../../src/server/http/transport/connections.ts';
import { type ListenOptions, listen } from '../../src/server/http/transport/listen.ts';
import { renewed, selfSigned } from '../support/certificates.ts';
import { test as it } from '../support/fixtures.ts';
import { exchange, openConnection, postHead, statusOf } from '../support/raw-http.ts';
import { startTestServer } from '../support/server.ts';

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

const healthOf = async ({ server }: { server: { port: number } }): Promise<number> =>
  statusOf(await exchange(server.port, ['GET /health HTTP/1.1', 'Host: localhost']));

/** Serves one response at each path. */
async function serve(respond: (path: string) => HttpResponse['body'], options: Partial<ListenOptions> = {}) {
  const app: App = async ({ target }) => ({ status: 200, headers: {}, body: respond(target) });
  const server = await listen(app, { host: '127.0.0.1', port: 0, ...options });
  onTestFinished(() => server.close());
  return server;
}

describe('requests that are sent without waiting for responses', () => {
  it('are answered one after the other, in their order', async ({ service }) => {
    using connection = openConnection(service.server.port);
    const names = Array.from({ length: 20 }, (_, index) => `customer ${index}`);
    connection.send(
      ...names.map((name) => {
        const body = JSON.stringify({ name });
        return [...postHead(service.adminToken, body.length).slice(0, -1), '', body].join('\r\n');
      }),
    );
    const text = await connection.until(/customer 19"/);
    expect([...text.matchAll(/"name":"(customer \d+)"/g)].map(([, name]) => name)).toEqual(names);
  });

  it.each([60, 64, 65, 66, 80, 300, 3_000])('are all answered when %i of them come at once', async (count) => {
    await using service = await startTestServer();
    using connection = openConnection(service.server.port);
    connection.send(get('/health').repeat(count - 1) + get('/nowhere'));
    const text = await connection.until(/HTTP.*404/);
    expect(text.match(/HTTP\/1.1 200 OK/g)).toHaveLength(count - 1);
  });

  it.each([60, 80, 300, 1_000])('change something %i times, with an answer for each, in their order', async (count) => {
    await using service = await startTestServer();
    using connection = openConnection(service.server.port);
    const names = Array.from({ length: count }, (_, index) => `customer ${index}`);
    const posts = names.map((name) => {
      const body = JSON.stringify({ name });
      return [...postHead(service.adminToken, body.length).slice(0, -1), '', body].join('\r\n');
    });
    connection.send(posts.join(''));
    const text = await connection.until(new RegExp(`customer ${count - 1}"`));
    expect([...text.matchAll(/"name":"(customer \d+)"/g)].map(([, name]) => name)).toEqual(names);
    const listed = (await service.call('GET', '/customer')).body.data.map(({ name }: { name: string }) => name);
    expect(listed.toSorted()).toEqual(names.toSorted());
  });

  it('are answered over TLS as well, and with bodies that come late', async () => {
    const app: App = async ({ target, readBody }) => ({
      status: 200,
      headers: {},
      body: `${target} ${await readBody()}`,
    });
    const server = await listen(app, { host: '127.0.0.1', port: 0, tls: selfSigned });
    onTestFinished(() => server.close());
    const socket = connectTls({ port: server.port, host: 'localhost', ca: selfSigned.cert }).setEncoding('utf8');
    onTestFinished(() => void socket.destroy());
    let text = '';
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    const heads = Array.from(
      { length: 200 },
      (_, at) => `POST /${at} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n`,
    );
    socket.write(`${heads.slice(0, -1).join('body')}body${heads.at(-1)}bo`);
    await expect.poll(() => text).toContain('/198 ');
    socket.write('dy');
    await expect.poll(() => text.match(/\/\d+ body/g)).toHaveLength(200);
  });

  it('are read no further while 64 of them wait, also when the body of another is read', async () => {
    const connections = createConnections(DEFAULT_CONNECTION_LIMITS, () => false);
    const ends = { remoteAddress: '127.0.0.1', remotePort: 1, localAddress: '127.0.0.1' };
    const socket = Object.assign(new PassThrough(), ends) as unknown as Socket;
    socket.resume();
    connections.admit(socket);
    const response = new PassThrough();
    const add = () =>
      connections.enqueue(Object.assign(response, { req: { socket, complete: true } }) as never, () => {});
    for (let sent = 0; sent < 64; sent += 1) add();
    expect(socket.isPaused()).toBe(false);
    add();
    expect(socket.isPaused()).toBe(true);
    socket.resume();
    await nextTurn();
    expect(socket.isPaused()).toBe(true);
    response.emit('close');
    expect(socket.isPaused()).toBe(false);
    connections.closeAll();
  });
});

describe('responses that are not read', () => {
  const MIB = 1_048_576;

  /** From then on the sweeps for stalled connections run when a test says so. */
  const holdTime = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  afterEach(() => void vi.useRealTimers());

  /** Serves responses of so many bytes, and counts how many were made. */
  async function serveLarge(limits: NonNullable<ListenOptions['limits']>, bytes = MIB) {
    let made = 0;
    const respond = (path: string) => {
      if (path === '/health') return 'ok';
      made += 1;
      return 'x'.repeat(bytes);
    };
    return { server: await serve(respond, { limits, drainMs: 0 }), made: () => made };
  }

  it('are not made before those in front of them are taken, and close the connection after a while', async () => {
    holdTime();
    const service = await serveLarge({ stallMs: 1_000 });
    const socket = (await open(service.server.port)).pause();
    socket.write(get('/large').repeat(60));
    expect(await healthOf(service)).toBe(200);
    const isClosed = () => {
      vi.advanceTimersByTime(1_000);
      // A socket that reads nothing notices the end when it writes.
      socket.write('\r\n');
      return socket.closed;
    };
    await expect.poll(isClosed).toBe(true);
    // What the system itself takes in for a connection on its way.
    expect(service.made()).toBeLessThan(30);
  });

  it('are sent in full to one who reads slowly', async () => {
    const { server } = await serveLarge({ stallMs: 2_000 });
    const socket = await open(server.port);
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 5);
    });
    socket.write(get('/large').repeat(12));
    await expect.poll(() => received, { timeout: 25_000 }).toBeGreaterThan(12 * MIB);
  });

  it('do not count against a connection that waits for the server', async () => {
    holdTime();
    const { server } = await serveLarge({ stallMs: 100 });
    const socket = await open(server.port);
    for (const pause of [400, 0]) {
      socket.write(get('/health'));
      expect(statusOf(String(await once(socket, 'data')))).toBe(200);
      vi.advanceTimersByTime(pause);
    }
  });
});

describe('a body in chunks', () => {
  /** A body of what `next` gives, which tells when it was returned. */
  function chunks(next: (count: number) => Promise<string | null>) {
    let count = 0;
    const returned = Promise.withResolvers<'returned'>();
    const body: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          count += 1;
          const value = await next(count);
          return value === null ? { done: true, value } : { done: false, value };
        },
        async return() {
          returned.resolve('returned');
          return { done: true, value: null };
        },
      }),
    };
    return { body, count: () => count, returned: returned.promise };
  }

  async function serveChunks(next: (count: number) => Promise<string | null>) {
    const { body, ...seen } = chunks(next);
    const failures: unknown[] = [];
    const server = await serve(() => body, { onFailure: (error) => failures.push(error) });
    return { server, ...seen, failures };
  }

  it('is sent to its end', async () => {
    const { server } = await serveChunks(async (count) => (count > 3 ? null : `line ${count}\n`));
    const text = await exchange(server.port, ['GET / HTTP/1.1', 'Host: localhost']);
    expect(text).toMatch(/line 1\n\r\n[\s\S]*line 3\n\r\n0\r\n\r\n$/);
  });

  it('is asked for no faster than it is read', async () => {
    const service = await serveChunks(async () => 'x'.repeat(100_000));
    const socket = (await open(service.server.port)).pause();
    socket.write(get('/'));
    let asked = -1;
    const isSteady = () => {
      const steady = asked === service.count();
      asked = service.count();
      return steady;
    };
    await expect.poll(isSteady, { interval: 500, timeout: 15_000 }).toBe(true);
    expect(asked).toBeLessThan(300);
    socket.destroy();
    expect(await service.returned).toBe('returned');
  });

  it('is given up when its reader goes away while the next chunk is awaited', async () => {
    const service = await serveChunks((count) => (count === 1 ? Promise.resolve('first') : new Promise(() => {})));
    const socket = await open(service.server.port);
    socket.write(get('/'));
    await once(socket, 'data');
    socket.destroy();
    expect(await service.returned).toBe('returned');
  });

  it('is given up when its reader has gone before the response', async () => {
    const asked = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const { body, returned } = chunks(async () => 'more');
    const app: App = async () => {
      asked.resolve();
      await gone.promise;
      return { status: 200, headers: {}, body };
    };
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    onTestFinished(() => server.close());
    const taken = Promise.withResolvers<Socket>();
    const started = channel('http.server.request.start');
    const see = (message: unknown) => taken.resolve((message as { socket: Socket }).socket);
    started.subscribe(see);
    onTestFinished(() => void started.unsubscribe(see));
    const socket = await open(server.port);
    socket.write(get('/'));
    await asked.promise;
    // The server hears of it after the client.
    const heard = once(await taken.promise, 'close');
    socket.destroy();
    await heard;
    gone.resolve();
    expect(await returned).toBe('returned');
  });

  it('ends with a broken connection, and not as if it were complete, when it fails', async () => {
    const service = await serveChunks(async (count) => {
      if (count > 1) throw new Error('the source failed');
      return 'first';
    });
    expect(await exchange(service.server.port, ['GET / HTTP/1.1', 'Host: localhost'])).not.toMatch(/0\r\n\r\n$/);
    expect(service.failures).toEqual([new Error('the source failed')]);
  });
});

describe('a connection too many', () => {
  it.each([
    ['in all, is closed at once', { maxConnections: 3 }, /^$/],
    [
      'from one address, is refused with 503',
      { maxConnectionsPerAddress: 3 },
      /^HTTP\/1\.1 503 [\s\S]*Retry-After: 1[\s\S]*"Service unavailable","code":1\}$/,
    ],
  ])('%s, until another one ends', async (_, connections, text) => {
    await using service = await startTestServer({ connections });
    const sockets = [await open(service.server.port), await open(service.server.port), await open(service.server.port)];
    using refused = openConnection(service.server.port);
    expect(await refused.end()).toMatch(text);
    sockets[0]?.destroy();
    await expect.poll(() => healthOf(service).catch(() => 'closed')).toBe(200);
  });

  it('is closed without a word over TLS', async () => {
    await using service = await startTestServer({ connections: { maxConnectionsPerAddress: 1 }, tls: selfSigned });
    await open(service.server.port);
    using refused = openConnection(service.server.port);
    expect(await refused.end()).toBe('');
  });

  it('takes no place of another address', async () => {
    const limits = { ...DEFAULT_CONNECTION_LIMITS, maxConnectionsPerAddress: 2 };
    const connections = createConnections(limits, () => false);
    onTestFinished(connections.closeAll);
    let remotePort = 0;
    const from = (remoteAddress: string) => {
      remotePort += 1;
      return Object.assign(new PassThrough(), { remoteAddress, remotePort }) as unknown as Socket;
    };
    const own = [from('203.0.113.9'), from('203.0.113.9'), from('203.0.113.9')];
    expect(own.map(connections.admit)).toEqual([true, true, false]);
    expect(connections.admit(from('198.51.100.1'))).toBe(true);
  });

  it('has no limit by address behind a trusted proxy, which brings many callers', async () => {
    const connections = { maxConnectionsPerAddress: 3 };
    await using service = await startTestServer({ connections, behindProxy: ['127.0.0.1'] });
    for (let index = 0; index < 6; index += 1) await open(service.server.port);
    expect(await healthOf(service)).toBe(200);
  });
});

describe('slow clients', () => {
  /** Node's own server object as its diagnostics show it: its timeouts can be read, and shortened. */
  async function watchedServer() {
    let found: Server | undefined;
    const started = channel('http.server.request.start');
    const see = (message: unknown) => {
      found = (message as { server: Server }).server;
    };
    started.subscribe(see);
    const service = await startTestServer();
    await service.call('GET', '/health');
    started.unsubscribe(see);
    if (found === undefined) throw new Error('no server was seen');
    return { service, server: found };
  }

  it('are given 10 s for the headers, 12 s for the request, and 65 s between requests', async () => {
    const { service, server } = await watchedServer();
    const { headersTimeout, requestTimeout, keepAliveTimeout } = server;
    expect([headersTimeout, requestTimeout, keepAliveTimeout]).toEqual([10_000, 12_000, 65_000]);
    await service[Symbol.asyncDispose]();
  });

  it.each([
    ['headers that never end', 'headersTimeout', ['GET /customer HTTP/1.1', 'Host: localhost', 'X-Slow']],
    ['a body that never ends', 'requestTimeout', [...postHead('nothing', 100), '', '{']],
  ] as const)('are cut off with %s', async (_, timeout, lines) => {
    const { service, server } = await watchedServer();
    server[timeout] = 1;
    using connection = openConnection(service.server.port);
    connection.send(...lines);
    expect(statusOf(await connection.end())).not.toBe(200);
    expect((await service.call('GET', '/customer')).status).toBe(200);
    await service[Symbol.asyncDispose]();
  });

  it.each([
    ['without a token', 'nothing', 401],
    ['with too much', null, 413],
  ])(
    'that are refused before their body has come, %s, read why, and cannot send for ever',
    async (_, token, status) => {
      const { service, server } = await watchedServer();
      // Nothing else is to cut it off.
      Object.assign(server, { headersTimeout: 0, requestTimeout: 0 });
      using connection = openConnection(service.server.port);
      const head = postHead(token ?? service.adminToken, 0).slice(0, 3);
      connection.send(...head, 'Transfer-Encoding: chunked', '', '');
      const flood = setInterval(() => connection.send('10000', ' '.repeat(0x10000), ''), 1);
      onTestFinished(() => clearInterval(flood));
      expect(statusOf(await connection.end())).toBe(status);
      await service[Symbol.asyncDispose]();
    },
  );
});

it('a server with TLS takes a new certificate while a connection is open, and goes on answering on it', async () => {
  await using service = await startTestServer({ tls: selfSigned });
  const { port, url } = service.server;
  expect(url).toBe(`https://127.0.0.1:${port}`);
  const openTls = async () => {
    const socket = connectTls({ port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  };
  const ask = async (socket: Socket) => {
    socket.write(get('/health'));
    return statusOf(String(await once(socket, 'data')));
  };
  const before = await openTls();
  expect(await ask(before)).toBe(200);
  const { fingerprint256 } = before.getPeerCertificate();
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const otherKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  expect(() => service.server.reloadTls({ ...selfSigned, key: otherKey })).toThrow();
  service.server.reloadTls(renewed);
  expect(await ask(before)).toBe(200);
  expect(before.getPeerCertificate().fingerprint256).toBe(fingerprint256);
  const after = await openTls();
  expect(after.getPeerCertificate().fingerprint256).toBe(new X509Certificate(renewed.cert).fingerprint256);
  expect(await ask(after)).toBe(200);
});
