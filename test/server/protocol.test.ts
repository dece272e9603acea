import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, expect } from 'vitest';
import { contract, listEndpoints } from '../../src/contract/index.ts';
import { readInput } from '../../src/server/http/input.ts';
import { test as it } from '../support/fixtures.ts';
import { exchange, openConnection, postHead, statusOf } from '../support/raw-http.ts';
import { startTestServer } from '../support/server.ts';
import { createWorld } from '../support/world.ts';

const invalid = 'Missing required params';
const notAllowed = 'Method not allowed';
const host = 'Host: localhost';
const post = (...lines: readonly string[]) => ['POST /customer HTTP/1.1', host, ...lines];

describe('what no client of ours sends', () => {
  it.for<[string, string[], number, string]>([
    ['what is no HTTP', ['hello'], 400, invalid],
    ['a method that is none', ['BREW /customer HTTP/1.1', host], 400, invalid],
    ['TRACE', ['TRACE /customer HTTP/1.1', host], 405, notAllowed],
    ['PROPFIND', ['PROPFIND /customer HTTP/1.1', host], 405, notAllowed],
    ['no Host', ['GET /customer HTTP/1.1'], 400, invalid],
    ['two equal Host lines', ['GET /health HTTP/1.1', host, host], 400, invalid],
    ['two Host lines that differ', ['GET /health HTTP/1.1', 'Host: a.example', 'Host: b.example'], 400, invalid],
    ['a Host that is none', ['GET /customer HTTP/1.1', 'Host: a b'], 400, invalid],
    ['two lengths', post('Content-Length: 1', 'Content-Length: 2'), 400, invalid],
    ['a length and chunks', post('Content-Length: 1', 'Transfer-Encoding: chunked'), 400, invalid],
    ['a transfer coding besides chunks', post('Transfer-Encoding: gzip, chunked'), 400, invalid],
    ['a path that is written in another way', ['GET /custo%6Der HTTP/1.1', host], 404, 'Not found'],
    ['a path that is none', ['GET customer HTTP/1.1', host], 400, invalid],
    ['the asterisk', ['OPTIONS * HTTP/1.1', host], 400, invalid],
    ['headers of 20 kB', ['GET /health HTTP/1.1', host, `X: ${'x'.repeat(20_000)}`], 431, 'Request headers too large'],
    ['a URL of 15 kB', [`GET /health?${'x'.repeat(15_000)} HTTP/1.1`, host], 414, 'Request URI too long'],
  ])('%s is refused as all is: message, code, the end of the connection, nothing else', async (row, { service }) => {
    const [, head, status, message] = row;
    const text = await exchange(service.server.port, head);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\\r\\nConnection: close\\r\\n`, 'i'));
    expect(text).toMatch(/\r\ncontent-type: application\/json\r\n/i);
    expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toBe(JSON.stringify({ message, code: 1 }));
    expect((await service.call('GET', '/customer')).status).toBe(200);
  });

  it('does not take the place of a response that is still being made', async ({ service }) => {
    using connection = openConnection(service.server.port);
    const head = ['GET /customer HTTP/1.1', host, `Authorization: Bearer ${service.adminToken}`];
    connection.send(...head, '', 'this is no HTTP', '', '');
    expect(await connection.end()).toMatch(/^HTTP\/1\.1 200 [\s\S]*"data":\[\]/);
  });

  it('is no URL as long as a query of the contract can be, and no address in full', async ({ service }) => {
    const ask = (target: string) => exchange(service.server.port, [`GET ${target} HTTP/1.1`, host]);
    expect(statusOf(await ask(`/health?${'x'.repeat(8_000)}`))).toBe(200);
    expect(await ask('http://localhost/health')).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"status":"ok"\}$/);
  });

  it('lets nobody in with two Authorization headers, whichever is good', async ({ service }) => {
    const good = `Authorization: Bearer ${service.adminToken}`;
    const bad = 'Authorization: Bearer nothing';
    const ask = (...headers: string[]) => exchange(service.server.port, ['GET /customer HTTP/1.1', host, ...headers]);
    const answers = [await ask(good, bad), await ask(bad, good), await ask(good, good)];
    expect(answers.map(statusOf)).toEqual([401, 401, 401]);
  });
});

it('answers HEAD as GET, without the body', async ({ service }) => {
  const headers = { Authorization: `Bearer ${service.adminToken}` };
  const answer = await fetch(`${service.server.url}/customer`, { method: 'HEAD', headers });
  const seen = [answer.status, answer.headers.get('content-type'), await answer.text()];
  expect(seen).toEqual([200, 'application/json', '']);
});

describe('a server on loopback', () => {
  it('answers those who name it as their host, so that no name that was made to point here reaches it', async ({
    service,
  }) => {
    const own = [
      'localhost',
      'LOCALHOST:4747',
      'localhost.',
      'Localhost.:1',
      '127.0.0.1',
      '127.0.0.1:80',
      '[::1]:4747',
    ];
    const others = [
      ...['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:4747', 'localhost:4747:80'],
      ...['0.0.0.0', '[::ffff:127.0.0.1]', '[::2]', 'localhost..', '127.0.0.1.', '127.0.0.256', ''],
    ];
    const malformed = ['127.0.0.1@evil.example', 'x'.repeat(256)];
    for (const name of [...own, ...others, ...malformed]) {
      const text = await exchange(service.server.port, ['GET /health HTTP/1.1', `Host: ${name}`]);
      expect([name, statusOf(text)]).toEqual([name, own.includes(name) ? 200 : others.includes(name) ? 421 : 400]);
    }
  });

  it('judges a whole address by the name in it, and by Host too', async ({ service }) => {
    const ask = async (target: string, name: string) =>
      statusOf(await exchange(service.server.port, [`GET ${target} HTTP/1.1`, `Host: ${name}`]));
    expect(await ask('http://LOCALHOST:80/health', 'localhost')).toBe(200);
    expect(await ask('http://evil.example/health', 'localhost')).toBe(421);
    expect(await ask('https://evil.example:4747/customer', '127.0.0.1')).toBe(421);
    expect(await ask('http://localhost/health', 'evil.example')).toBe(421);
    expect(await ask('http://localhost@evil.example/health', 'localhost')).toBe(400);
  });

  it('says in the response which host it was and what to do, and in the log once a minute', async () => {
    const lines: string[] = [];
    await using service = await startTestServer({ logFormat: 'json', logTo: { write: (line) => lines.push(line) } });
    const ask = (name: string) => exchange(service.server.port, ['POST /create-key HTTP/1.1', `Host: ${name}`]);
    const [first] = [await ask('lic.example'), await ask('lic.example'), await ask('other.example')];
    expect(JSON.parse(first.slice(first.indexOf('{')))).toEqual({
      ...{ code: 1, message: expect.stringMatching(/^Host 'lic\.example' is not .* --behind-proxy$/) },
    });
    const warnings = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
    expect(warnings).toMatchObject([{ host: 'lic.example', msg: expect.stringContaining('--behind-proxy') }]);
  });

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
          host,
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

describe('a body', () => {
  it.for([
    ['that is compressed', { 'Content-Encoding': 'gzip' }],
    ['in another character set', { 'Content-Type': 'application/json; charset=iso-8859-1' }],
    ['in another character set, in quotes', { 'Content-Type': 'application/json;charset="UTF-16"' }],
  ] as const)('%s is refused with 415, and not stored under its key', async ([, headers], { service }) => {
    const key = { 'Idempotency-Key': 'one' };
    const refused = await service.call('POST', '/customer', { name: 'Acme' }, { ...headers, ...key });
    expect(refused).toMatchObject({ status: 415, body: { message: 'Unsupported content coding or character set' } });
    expect((await service.call('POST', '/customer', { name: 'Acme' }, key)).status).toBe(201);
  });

  it.for([
    ['Content-Encoding', 'identity'],
    ['Content-Type', 'application/json; charset=UTF-8'],
    ['Content-Type', 'application/json; charset="utf-8"'],
  ] as const)('with %s: %s is taken', async ([name, value], { service }) => {
    expect((await service.call('POST', '/customer', { name: 'Acme' }, { [name]: value })).status).toBe(201);
  });

  it('in the middle of which the caller hangs up writes nothing, and is no failure', async ({ service }) => {
    {
      using connection = openConnection(service.server.port);
      connection.send(...postHead(service.adminToken, 100), '', '');
      await connection.until(/100 Continue/);
      connection.send('{"name":"Acme"}');
    }
    expect(await service.logged({ method: 'POST' })).toMatchObject({ level: 30, route: '/customer', status: 400 });
    expect((await service.call('GET', '/customer')).body.data).toEqual([]);
  });

  it('that comes after its token was revoked changes nothing', async () => {
    let milliseconds = 0;
    await using world = await createWorld({ monotonic: () => milliseconds });
    const revoked = await world.tokenOf({ scopes: ['customer:write'] });
    const kept = await world.tokenOf({ kind: 'admin', maxIssues: 1 });
    const begin = (token: string | null) => {
      const [asked, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const pull = async (controller: ReadableStreamDefaultController) => {
        asked.resolve();
        await sent.promise;
        controller.enqueue(Buffer.from('{"name":"Mallory"}'));
        controller.close();
      };
      const body = new ReadableStream({ pull }, { highWaterMark: 0 });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = world.send('/customer', { method: 'POST', headers, body, duplex: 'half' });
      const finish = () => {
        sent.resolve();
        return response;
      };
      return asked.promise.then(() => finish);
    };
    // Both wait for their bodies.
    const [first, second] = await Promise.all([begin(revoked), begin(kept)]);
    const self = await world.call({ token: revoked ?? '' }, 'GET', '/token/self');
    expect((await world.call('admin', 'DELETE', `/token/by-id?tokenId=${self.body.data.id}`)).status).toBe(200);
    milliseconds += 1_000;
    expect((await first()).status).toBe(401);
    expect((await second()).status).toBe(201);
    expect((await world.contents()).customers).toHaveLength(1);
  });

  it('gives the fields of the contract, whatever others were sent', () => {
    const headers = { get: (name: string) => (name === 'content-type' ? 'application/json' : null), lines: () => [] };
    const peer = '127.0.0.1';
    const request = { method: 'POST', target: '/customer', headers, peer, readBody: async () => Buffer.of() };
    const sent = { name: 'Ada', id: 'cus_1', active: false, isAdmin: true, created_at: '2020-01-01T00:00:00.000Z' };
    const read = readInput(contract.customers.create, request, Buffer.from(JSON.stringify(sent)));
    expect(read).toEqual({ name: 'Ada' });
  });
});

describe('a caller that asks before it sends its body', () => {
  it.for([
    ['is refused at once without a valid token', { Authorization: 'Bearer none' }, 401],
    ['is refused at once with too much', { 'Content-Length': '2000000' }, 413],
    ['is refused at once with what is compressed', { 'Content-Encoding': 'br' }, 415],
    ['is told to go on when the body is wanted', {}, 201],
  ] as const)('%s', async ([, headers, status], { service }) => {
    const sent = httpRequest(`${service.server.url}/customer`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${service.adminToken}`,
        'Content-Type': 'application/json',
        'Content-Length': '15',
        Expect: '100-continue',
        ...headers,
      },
    });
    let continued = false;
    sent.on('continue', () => {
      continued = true;
      sent.end('{"name":"Acme"}');
    });
    sent.on('error', () => {});
    sent.flushHeaders();
    const [{ statusCode }] = (await once(sent, 'response')) as [IncomingMessage];
    sent.destroy();
    expect([statusCode, continued]).toEqual([status, status === 201]);
  });
});
