import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { connect as connectPlain, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { describe, expect } from 'vitest';
import { listEndpoints } from '../../src/contract/index.ts';
import { createSelfSigned } from '../../src/server/http/transport/self-signed.ts';
import { selfSigned } from '../client/self-signed.ts';
import { test as it } from '../support/fixtures.ts';
import { exchange } from '../support/raw-http.ts';
import { startTestServer } from '../support/server.ts';

const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);

describe('a server on loopback', () => {
  it.each<[string, number]>([
    ['localhost', 200],
    ['LOCALHOST:4747', 200],
    ['127.0.0.1', 200],
    ['127.0.0.1:80', 200],
    ['[::1]:4747', 200],
    ['evil.example', 400],
    ['localhost.evil.example', 400],
    ['127.0.0.1.evil.example:4747', 400],
    ['localhost:4747:80', 400],
    ['127.0.0.1@evil.example', 400],
    ['0.0.0.0', 400],
    ['[::ffff:127.0.0.1]', 400],
    ['', 400],
  ])(
    'answers requests for the host %j with %s, so that no name that was made to point here reaches it',
    async (host, status) => {
      await using service = await startTestServer();
      const head = ['GET /customer HTTP/1.1', `Host: ${host}`, `Authorization: Bearer ${service.adminToken}`];
      expect(statusOf(await exchange(service.server.port, head))).toBe(status);
    },
  );

  it('takes any host from its proxy', async () => {
    await using service = await startTestServer({ behindProxy: ['127.0.0.0/8'] });
    const head = ['GET /health HTTP/1.1', 'Host: licences.example'];
    expect(statusOf(await exchange(service.server.port, head))).toBe(200);
  });

  it('tells no page of another site anything, for any endpoint', async ({ service }) => {
    for (const { endpoint } of listEndpoints()) {
      for (const method of ['OPTIONS', endpoint.method]) {
        const text = await exchange(service.server.port, [
          `${method} ${endpoint.path} HTTP/1.1`,
          'Host: localhost',
          'Origin: https://evil.example',
          'Access-Control-Request-Method: POST',
          'Access-Control-Request-Headers: authorization',
          'Content-Length: 0',
        ]);
        expect(text).toMatch(/^HTTP\/1\.1 \d{3}/);
        expect(text).not.toMatch(/^access-control-/im);
        if (method === 'OPTIONS') expect(statusOf(text)).toBe(405);
      }
    }
  });
});

describe('a server with TLS', () => {
  it('takes a new certificate while a connection is open, and goes on answering on it', async () => {
    await using service = await startTestServer({ tls: selfSigned });
    const open = () =>
      new Promise<ReturnType<typeof connectTls>>((resolve, reject) => {
        const socket = connectTls({
          port: service.server.port,
          rejectUnauthorized: false,
          ALPNProtocols: ['http/1.1'],
        });
        socket.once('secureConnect', () => resolve(socket)).once('error', reject);
      });
    const ask = async (socket: Awaited<ReturnType<typeof open>>) => {
      socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const [bytes] = await new Promise<[Buffer]>((resolve) => socket.once('data', (data) => resolve([data])));
      return statusOf(bytes.toString());
    };
    const before = await open();
    expect(await ask(before)).toBe(200);
    const { fingerprint256 } = before.getPeerCertificate();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect(() =>
      service.server.reloadTls({ ...selfSigned, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }),
    ).toThrow();
    const next = createSelfSigned({ names: ['localhost'], from: Date.now() - 1_000, until: Date.now() + 86_400_000 });
    service.server.reloadTls(next);
    expect(await ask(before)).toBe(200);
    expect(before.getPeerCertificate().fingerprint256).toBe(fingerprint256);
    const after = await open();
    expect(after.getPeerCertificate().fingerprint256).toBe(new X509Certificate(next.cert).fingerprint256);
    expect(await ask(after)).toBe(200);
    before.destroy();
    after.destroy();
  });
});

describe('slow connections', () => {
  it('are gone within 15 s, 1 000 of them, and hold up nobody meanwhile', { timeout: 60_000 }, async ({ service }) => {
    const { port } = service.server;
    const starts = [
      '',
      'GET /customer HTTP/1.1\r\nHost: localhost\r\nX-Slow: ',
      'POST /customer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n' +
        `Authorization: Bearer ${service.adminToken}\r\n\r\n{`,
    ];
    const sockets: Socket[] = [];
    let closed = 0;
    for (let i = 0; i < 1_000; i += 1) {
      // Of one address they would be no more than 256.
      const socket = connectPlain({ port, host: '127.0.0.1', localAddress: `127.0.0.${2 + (i % 4)}` });
      socket.on('error', () => {}).resume();
      socket.once('close', () => {
        closed += 1;
      });
      socket.write(starts[i % starts.length] ?? '');
      sockets.push(socket);
    }
    const dripping = setInterval(() => {
      for (const [i, socket] of sockets.entries()) if (i % starts.length > 0 && socket.writable) socket.write(' ');
    }, 1_000);
    const started = performance.now();
    const times: number[] = [];
    while (closed < sockets.length && performance.now() - started < 20_000) {
      const asked = performance.now();
      const head = ['GET /customer HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${service.adminToken}`];
      expect(statusOf(await exchange(port, head))).toBe(200);
      times.push(performance.now() - asked);
      await sleep(50);
    }
    clearInterval(dripping);
    expect(closed).toBe(sockets.length);
    expect(performance.now() - started).toBeLessThan(15_000);
    const slowest = times.toSorted((a, b) => a - b).at(Math.floor(times.length * 0.95)) ?? 0;
    expect(slowest).toBeLessThan(500);
  });

  it('make room for others of their address, when it has as many as it may', { timeout: 30_000 }, async () => {
    await using service = await startTestServer({ connections: { maxConnectionsPerAddress: 5 } });
    const { port } = service.server;
    const slow = Array.from({ length: 5 }, () =>
      connectPlain(port, '127.0.0.1')
        .on('error', () => {})
        .resume(),
    );
    for (const socket of slow) socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n');
    const ask = async () => statusOf(await exchange(port, ['GET /health HTTP/1.1', 'Host: localhost']));
    await sleep(200);
    expect(await ask()).toBe(503);
    await sleep(3_000);
    expect(await ask()).toBe(200);
    expect(slow.filter(({ closed }) => closed)).toHaveLength(1);
    for (const socket of slow) socket.destroy();
  });
});
