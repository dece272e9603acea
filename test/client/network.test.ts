import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { sendOnce } from '../../src/client/attempt.ts';
import { openNetwork } from '../../src/client/network.ts';
import { createClient } from '../../src/index.ts';
import { selfSigned } from '../support/certificates.ts';
import { issued, licenseKey, productId } from './examples.ts';
import { fakeTiming } from './fake-timing.ts';
import { listen, serve, unusedAddress } from './loopback.ts';

afterEach(() => void vi.unstubAllEnvs());

const connect = (baseUrl: string, maxRetries = 0) =>
  createClient({ baseUrl, token: 'lkm_admin_secret', maxRetries, timing: fakeTiming() });

const create = (baseUrl: string, maxRetries = 0) => connect(baseUrl, maxRetries).keys.create({ productId });

const answer: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(issued));
};

test('sends the request and reads the answer', async () => {
  const seen: object[] = [];
  const baseUrl = await serve(async (request, response) => {
    const { method, url, headers } = request;
    seen.push({ method, url, headers, body: await text(request) });
    answer(request, response);
  });
  expect(await create(`${baseUrl}/api/`)).toEqual({ key: licenseKey });
  const body = JSON.stringify({ productId });
  const headers = { authorization: 'Bearer lkm_admin_secret', 'content-length': String(body.length) };
  expect(seen).toMatchObject([{ method: 'POST', url: '/api/create-key', headers, body }]);
});

test('knows that nothing was sent when the connection is refused', async () => {
  const baseUrl = await unusedAddress();
  await expect(create(baseUrl, 2)).rejects.toMatchObject({
    name: 'NetworkError',
    message: expect.stringMatching(/^cannot connect to 127\.0\.0\.1:\d+: connect ECONNREFUSED/),
    sent: false,
    timedOut: false,
    call: { attempts: 3 },
  });
});

test('knows that something was sent when the connection ends after the request', async () => {
  const baseUrl = await serve((request) => request.socket.destroy());
  await expect(create(baseUrl)).rejects.toMatchObject({ name: 'NetworkError', sent: true, timedOut: false });
});

test('remembers that the first attempt was sent when the next ones find no server', async () => {
  const server = createServer((request) => {
    server.close();
    request.socket.destroy();
  });
  await expect(create(`http://${await listen(server)}`, 2)).rejects.toMatchObject({
    name: 'NetworkError',
    message: expect.stringMatching(/^no answer from 127\.0\.0\.1:\d+ after 3 attempts$/),
    sent: true,
  });
});

test('repeats a request whose answer ends early', async () => {
  let requests = 0;
  const baseUrl = await serve((request, response) => {
    requests += 1;
    if (requests === 2) return answer(request, response);
    response.writeHead(200, { 'content-length': 100 }).write('{"code":0');
    return setImmediate(() => response.destroy());
  });
  expect(await create(baseUrl, 1)).toEqual({ key: licenseKey });
  expect(requests).toBe(2);
});

test('does not follow a redirect', async () => {
  let elsewhere = 0;
  const other = await serve(() => {
    elsewhere += 1;
  });
  const baseUrl = await serve((_request, response) => response.writeHead(307, { location: `${other}/x` }).end());
  await expect(create(baseUrl)).rejects.toMatchObject({
    name: 'ProtocolError',
    message: `the service answered with a redirect to ${other}/x; check the base URL`,
  });
  expect(elsewhere).toBe(0);
});

test('trusts no certificate that no authority has signed, whatever the environment says', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const address = await listen(createTlsServer(selfSigned, answer));
  await expect(create(`https://${address}`, 4)).rejects.toMatchObject({
    name: 'NetworkError',
    sent: false,
    call: { attempts: 1 },
    cause: { code: expect.stringMatching(/SELF_SIGNED|CERT_NOT_YET_VALID/) },
  });
});

test('knows that nothing was sent to a server that does not speak TLS', async () => {
  const address = await listen(createServer(answer));
  await expect(create(`https://${address}`)).rejects.toMatchObject({ name: 'NetworkError', sent: false });
});

test('knows that nothing was sent to a port that `fetch` does not open, and tries it once', async () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:6000', maxRetries: 4, timing: fakeTiming(), fetch });
  await expect(client.keys.create({ productId })).rejects.toMatchObject({
    name: 'NetworkError',
    message: 'cannot connect to 127.0.0.1:6000: bad port',
    sent: false,
    call: { attempts: 1 },
  });
});

/** A proxy that makes no tunnel, and what it was asked for. */
async function refusingProxy(): Promise<readonly unknown[]> {
  const asked: unknown[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    asked.push([request.url, request.headers.authorization]);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  vi.stubEnv('https_proxy', `http://${await listen(proxy)}`);
  return asked;
}

test.each([
  ['example.com', 'a.example.com', false],
  [' other.example , example.com', 'a.b.example.com', false],
  ['example.com', 'notexample.com', true],
  ['', 'a.example.com', true],
])('with NO_PROXY=%j goes to %s through the proxy, and no further if it refuses: %s', async (noProxy, host, isUsed) => {
  const asked = await refusingProxy();
  vi.stubEnv('no_proxy', undefined);
  vi.stubEnv('NO_PROXY', noProxy);
  await expect(create(`https://${host}`)).rejects.toMatchObject({ name: 'NetworkError', sent: false });
  expect(asked).toEqual(isUsed ? [[`${host}:443`, undefined]] : []);
});

test.each([
  ['to a server that does not begin TLS', (address: string) => `https://${address}`, null],
  ['to a proxy that makes no tunnel', () => 'https://licensing.example.com', 'http'],
])('gives up a connection in time: %s', async (_title, urlOf, scheme) => {
  const silent = createServer();
  for (const event of ['connect', 'clientError']) silent.on(event, () => {});
  const address = await listen(silent);
  const proxy = scheme === null ? null : { href: `${scheme}://${address}`, shown: 'the proxy' };
  const transport = openNetwork({ connectTimeoutMs: 50, proxy });
  const limits = { timeoutMs: 60_000, maxBytes: 1_000 };
  const request = { url: `${urlOf(address)}/key`, method: 'GET', headers: {}, body: null } as const;
  const call = { operation: 'GET /key', idempotencyKey: null, attempts: 1 };
  expect(await sendOnce(transport, request, limits, { call, host: address })).toMatchObject({
    name: 'NetworkError',
    reached: false,
    unreachable: true,
    timedOut: false,
  });
});

test.each(['headers', 'body'])('has no time of its own in which the %s must come', async (late) => {
  const baseUrl = await serve((request, response) => {
    if (late === 'body') response.setHeader('content-type', 'application/json').flushHeaders();
    // Longer than the slowest look of `undici` at its timers.
    setTimeout(() => (late === 'body' ? response.end(JSON.stringify(issued)) : answer(request, response)), 2_000);
  });
  expect(await create(baseUrl)).toEqual({ key: licenseKey });
});

test('uses connections again', async () => {
  const ports = new Set<number | undefined>();
  const client = connect(
    await serve((request, response) => {
      ports.add(request.socket.remotePort);
      answer(request, response);
    }),
  );
  for (let call = 0; call < 10; call += 1) await client.keys.create({ productId });
  expect(ports.size).toBeLessThan(3);
});

test('shows no proxy what goes to a loopback address', async () => {
  vi.stubEnv('http_proxy', await unusedAddress());
  vi.stubEnv('no_proxy', '');
  expect(await create(await serve(answer))).toEqual({ key: licenseKey });
});
