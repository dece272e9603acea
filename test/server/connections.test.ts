import { once } from 'node:events';
import { get as request } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { Hono } from 'hono';
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { Exchange } from '../../src/server/http/messages.ts';
import {
  type ConnectionLimits,
  createConnections,
  DEFAULT_CONNECTION_LIMITS,
} from '../../src/server/http/transport/connections.ts';
import { listen } from '../../src/server/http/transport/listen.ts';
import { selfSigned } from '../client/self-signed.ts';
import { test as it } from '../support/fixtures.ts';
import { exchange, openConnection } from '../support/raw-http.ts';
import { startTestServer } from '../support/server.ts';

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  return socket;
}

const get = (path: string, token = 'none') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;

/** Resolves when the other side has closed. A socket that reads nothing notices it when it writes. */
async function closing(socket: Socket): Promise<'closed'> {
  const poke = setInterval(() => socket.write('\r\n'), 50);
  if (!socket.closed) await new Promise((done) => socket.once('close', done));
  clearInterval(poke);
  return 'closed';
}

const isHealthy = async ({ server }: { server: { port: number } }): Promise<boolean> =>
  (await exchange(server.port, ['GET /health HTTP/1.1', 'Host: localhost'])).includes('{"status":"ok"}');

describe('requests that are sent without waiting for responses', () => {
  it('are answered one after the other, in their order', async ({ service }) => {
    using connection = openConnection(service.server.port);
    const names = Array.from({ length: 20 }, (_, index) => `customer ${index}`);
    connection.send(
      ...names.flatMap((name) => {
        const body = JSON.stringify({ name });
        return [
          'POST /customer HTTP/1.1',
          'Host: localhost',
          `Authorization: Bearer ${service.adminToken}`,
          'Content-Type: application/json',
          `Content-Length: ${body.length}`,
          '',
          body,
        ].join('\r\n');
      }),
    );
    const text = await connection.until(/customer 19"/);
    expect([...text.matchAll(/"name":"(customer \d+)"/g)].map(([, name]) => name)).toEqual(names);
  });

  it('close the connection when there are too many of them', async ({ service }) => {
    const socket = await open(service.server.port);
    socket.write(get('/health').repeat(200));
    expect(await closing(socket)).toBe('closed');
    expect(await isHealthy(service)).toBe(true);
  });
});

describe('responses that are not read', () => {
  const MIB = 1_048_576;

  /** Serves responses of 1 MiB, and counts how many were made. */
  async function serveLarge(limits: Partial<ConnectionLimits>) {
    let made = 0;
    const app = new Hono<{ Bindings: Exchange }>();
    app.get('/health', ({ env }) => env.respond({ status: 200, headers: {}, body: '{"status":"ok"}' }));
    app.get('/large', ({ env }) => {
      made += 1;
      return env.respond({ status: 200, headers: {}, body: 'x'.repeat(MIB) });
    });
    const server = await listen(app, { host: '127.0.0.1', port: 0, limits, drainMs: 0 });
    onTestFinished(() => server.close());
    return { server, made: () => made };
  }

  it('are not made before those in front of them are taken, and close the connection after a while', async () => {
    const service = await serveLarge({ stallMs: 1_000 });
    const socket = (await open(service.server.port)).pause();
    socket.write(get('/large').repeat(60));
    expect(await isHealthy(service)).toBe(true);
    expect(await closing(socket)).toBe('closed');
    // What the system itself takes in for a connection on its way.
    expect(service.made()).toBeLessThan(30);
    expect(await isHealthy(service)).toBe(true);
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
    const { server } = await serveLarge({ stallMs: 100 });
    const socket = await open(server.port);
    socket.setEncoding('utf8').write(get('/health'));
    await once(socket, 'data');
    await new Promise((done) => setTimeout(done, 400));
    socket.write(get('/health'));
    expect(String(await once(socket, 'data'))).toContain('{"status":"ok"}');
  });

  it('close the connection that has held them longest, when all together hold too much', async () => {
    const service = await serveLarge({ maxBufferedBytes: 3 * MIB });
    const readers: Socket[] = [];
    for (let index = 0; index < 6; index += 1) {
      const reader = (await open(service.server.port)).pause();
      reader.write(get('/large').repeat(60));
      readers.push(reader);
    }
    await Promise.all(readers.slice(0, 3).map(closing));
    expect(readers.map(({ closed }) => closed)).toEqual([true, true, true, false, false, false]);
    expect(await isHealthy(service)).toBe(true);
  });
});

describe('a body in chunks', () => {
  /** Serves what an iterator gives, and tells when it was returned. */
  async function serveChunks(next: (count: number) => Promise<string | null>) {
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
    const app = new Hono<{ Bindings: Exchange }>();
    app.get('/', ({ env }) => env.respond({ status: 200, headers: {}, body }));
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    const server = await listen(app, { host: '127.0.0.1', port: 0, onFailure });
    onTestFinished(() => server.close());
    return { server, count: () => count, returned: returned.promise, failures };
  }

  it('is sent to its end', async () => {
    const { server } = await serveChunks(async (count) => (count > 3 ? null : `line ${count}\n`));
    using connection = openConnection(server.port);
    connection.send('GET / HTTP/1.1', 'Host: localhost', 'Connection: close', '', '');
    expect(await connection.end()).toMatch(/line 1\n\r\n[\s\S]*line 3\n\r\n0\r\n\r\n$/);
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

  it('ends with a broken connection, and not as if it were complete, when it fails', async () => {
    const service = await serveChunks(async (count) => {
      if (count > 1) throw new Error('the source failed');
      return 'first';
    });
    using connection = openConnection(service.server.port);
    connection.send('GET / HTTP/1.1', 'Host: localhost', '', '');
    expect(await connection.end()).not.toMatch(/0\r\n\r\n$/);
    expect(service.failures).toEqual([new Error('the source failed')]);
  });
});

describe('a connection too many', () => {
  it.each([
    ['in all', { maxConnections: 3 }],
    ['from one address', { maxConnectionsPerAddress: 3 }],
  ])('is refused with 503, %s, until another one ends', async (_, connections) => {
    await using service = await startTestServer({ connections });
    const sockets = [await open(service.server.port), await open(service.server.port), await open(service.server.port)];
    using refused = openConnection(service.server.port);
    expect(await refused.end()).toMatch(
      /^HTTP\/1\.1 503 [\s\S]*Retry-After: 1[\s\S]*"Service unavailable","code":1\}$/,
    );
    sockets[0]?.destroy();
    await expect.poll(() => isHealthy(service)).toBe(true);
  });

  it('is closed without a word over TLS', async () => {
    await using service = await startTestServer({ connections: { maxConnections: 1 }, tls: selfSigned });
    await open(service.server.port);
    using refused = openConnection(service.server.port);
    expect(await refused.end()).toBe('');
  });

  it('takes the place of a TLS handshake that is not finished', async () => {
    await using service = await startTestServer({ connections: { maxConnections: 3 }, tls: selfSigned });
    const { port } = service.server;
    const held = await Promise.all([1, 2, 3].map(() => open(port)));
    // The beginning of a ClientHello.
    for (const socket of held) socket.write(Buffer.from('1603010200010001fc0303', 'hex'));
    const isAnswered = () =>
      new Promise<boolean>((resolve) => {
        const options = { port, host: '127.0.0.1', path: '/health', rejectUnauthorized: false, agent: false } as const;
        request(options, (response) => resolve(response.resume().statusCode === 200)).on('error', () => resolve(false));
      });
    await expect.poll(isAnswered, { timeout: 10_000 }).toBe(true);
    expect(held.filter(({ destroyed }) => destroyed).length).toBeLessThan(3);
  });

  it('takes no place of another address when its own are all taken', async () => {
    const limits = { ...DEFAULT_CONNECTION_LIMITS, maxConnections: 4, maxConnectionsPerAddress: 2 };
    const connections = createConnections(limits, () => false);
    onTestFinished(connections.closeAll);
    let remotePort = 0;
    const from = (remoteAddress: string) => {
      remotePort += 1;
      return Object.assign(new PassThrough(), { remoteAddress, remotePort }) as unknown as Socket;
    };
    const others = [from('198.51.100.1'), from('198.51.100.2')];
    const own = [from('203.0.113.9'), from('203.0.113.9')];
    expect([...others, ...own].map(connections.admit)).toEqual([true, true, true, true]);
    expect(connections.admit(from('203.0.113.9'))).toBe(false);
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 2_001);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(connections.admit(from('203.0.113.9'))).toBe(true);
    expect(others.map(({ destroyed }) => destroyed)).toEqual([false, false]);
    expect(own.filter(({ destroyed }) => destroyed)).toHaveLength(1);
    expect(connections.admit(from('192.0.2.7'))).toBe(true);
    expect(others.map(({ destroyed }) => destroyed)).toEqual([true, false]);
  });

  it('has no limit by address behind a trusted proxy, which brings many callers', async () => {
    await using service = await startTestServer({
      connections: { maxConnectionsPerAddress: 3 },
      behindProxy: ['127.0.0.1'],
    });
    for (let index = 0; index < 6; index += 1) await open(service.server.port);
    expect(await isHealthy(service)).toBe(true);
  });
});

describe('a connection that has ended', () => {
  it('holds nothing, and is forgotten', async () => {
    const connections = createConnections(DEFAULT_CONNECTION_LIMITS, () => false);
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => {
      connections.closeAll();
      server.close();
    });
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    const client = await open((server.address() as AddressInfo).port);
    const [socket] = (await accepted) as [Socket];
    expect(connections.admit(socket)).toBe(true);
    connections.hold(socket, 1);
    expect(connections.heldBytes()).toBe(1);
    socket.resume();
    client.destroy();
    await once(socket, 'close');
    expect(connections.heldBytes()).toBe(0);
    connections.hold(socket, 1);
    expect(connections.heldBytes()).toBe(0);
  });
});
