import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, expect } from 'vitest';
import { test as it } from '../support/fixtures.ts';
import { exchange, openConnection } from '../support/raw-http.ts';
import { startTestServer } from '../support/server.ts';

const invalid = 'Missing required params';
const notAllowed = 'Method not allowed';
const host = 'Host: localhost';
const post = (...lines: readonly string[]) => ['POST /customer HTTP/1.1', host, ...lines];

describe('what no client of ours sends', () => {
  it.each([
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
  ])(
    '%s is refused as all is: message, code, the end of the connection, nothing else',
    async (_, head, status, message) => {
      await using service = await startTestServer();
      const text = await exchange(service.server.port, head);
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\\r\\nConnection: close\\r\\n`, 'i'));
      expect(text).toMatch(/\r\ncontent-type: application\/json\r\n/i);
      expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toBe(JSON.stringify({ message, code: 1 }));
      expect((await service.call('GET', '/customer')).status).toBe(200);
    },
  );

  it('does not take the place of a response that is still being made', async ({ service }) => {
    using connection = openConnection(service.server.port);
    const head = ['GET /customer HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${service.adminToken}`];
    connection.send(...head, '', 'this is no HTTP', '', '');
    expect(await connection.end()).toMatch(/^HTTP\/1\.1 200 [\s\S]*"data":\[\]/);
  });

  it('takes a URL as long as a query of the contract can be', async ({ service }) => {
    const text = await exchange(service.server.port, [`GET /health?${'x'.repeat(8_000)} HTTP/1.1`, 'Host: localhost']);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a body', () => {
  it.each([
    ['that is compressed', { 'Content-Encoding': 'gzip' }],
    ['in another character set', { 'Content-Type': 'application/json; charset=iso-8859-1' }],
    ['in another character set, in quotes', { 'Content-Type': 'application/json;charset="UTF-16"' }],
  ])('%s is refused with 415, and not stored under its key', async (_, headers) => {
    await using service = await startTestServer();
    const key = { 'Idempotency-Key': 'one' };
    const refused = await service.call('POST', '/customer', { name: 'Acme' }, { ...headers, ...key });
    expect([refused.status, refused.body]).toEqual([
      415,
      { message: 'Unsupported content coding or character set', code: 1 },
    ]);
    expect((await service.call('POST', '/customer', { name: 'Acme' }, key)).status).toBe(201);
  });

  it.each([
    ['identity', { 'Content-Encoding': 'identity' }],
    ['UTF-8', { 'Content-Type': 'application/json; charset=UTF-8' }],
    ['"utf-8"', { 'Content-Type': 'application/json; charset="utf-8"' }],
  ])('that says %s is taken', async (_, headers) => {
    await using service = await startTestServer();
    expect((await service.call('POST', '/customer', { name: 'Acme' }, headers)).status).toBe(201);
  });
});

describe('a caller that asks before it sends its body', () => {
  const ask = async (port: number, headers: Record<string, string>) => {
    const sent = httpRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/customer',
      headers: { 'Content-Type': 'application/json', Expect: '100-continue', ...headers },
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
    return { statusCode, continued };
  };

  it.each([
    ['without a valid token', { Authorization: 'Bearer none', 'Content-Length': '15' }, 401],
    ['with too much', { 'Content-Length': '2000000' }, 413],
    ['with what is compressed', { 'Content-Length': '15', 'Content-Encoding': 'br' }, 415],
  ])('is refused at once, %s', async (_, headers, statusCode) => {
    await using service = await startTestServer();
    const token = { Authorization: `Bearer ${service.adminToken}` };
    expect(await ask(service.server.port, { ...token, ...headers })).toEqual({ statusCode, continued: false });
  });

  it('is told to go on when the body is wanted', async ({ service }) => {
    const headers = { Authorization: `Bearer ${service.adminToken}`, 'Content-Length': '15' };
    expect(await ask(service.server.port, headers)).toEqual({ statusCode: 201, continued: true });
  });
});
