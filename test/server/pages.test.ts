import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { toOpenApi } from '../../src/contract/openapi/openapi.ts';
import { staticPage } from '../../src/server/pages/static.ts';
import { exchange } from '../support/raw-http.ts';
import { startTestServer } from '../support/server.ts';
import { createWorld } from '../support/world.ts';

const document = JSON.stringify(toOpenApi());

/** Asks as it is: no header is added, and nothing is decompressed. */
async function ask(port: number, headers: readonly string[] = [], method = 'GET', path = '/openapi.json') {
  const received = await exchange(port, [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers]);
  const [head = '', body = ''] = received.split('\r\n\r\n');
  const lines = head.split('\r\n').slice(1);
  return {
    status: Number(received.slice(9, 12)),
    headers: Object.fromEntries(
      lines.map((line) => line.split(': ')).map(([name = '', value]) => [name.toLowerCase(), value]),
    ),
    body,
  };
}

describe('the document of the API', () => {
  it.each([
    ['', undefined],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'gzip'],
    ['GZIP ; q=0.5', 'gzip'],
    ['br;q=0, gzip;q=0.0', undefined],
    ['br', undefined],
    ['*', 'gzip'],
    ['*;q=0', undefined],
    ['gzip;q=0, *', undefined],
    ['deflate, ;;, q=1', undefined],
  ])('comes compressed where %j takes that', async (accepted, coding) => {
    await using service = await startTestServer();
    const response = await fetch(`${service.server.url}/openapi.json`, { headers: { 'accept-encoding': accepted } });
    expect(response.headers.get('content-encoding') ?? undefined).toBe(coding);
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    expect(await response.text()).toBe(document);
  });

  it('has a tag for each coding, by which it is not sent again', async () => {
    await using service = await startTestServer();
    const { port } = service.server;
    const plain = await ask(port);
    const zipped = await ask(port, ['Accept-Encoding: gzip']);
    expect(plain.headers.etag).toMatch(/^"[\w-]{43}"$/);
    expect(zipped.headers.etag).not.toBe(plain.headers.etag);
    for (const tag of [zipped.headers.etag, `W/${zipped.headers.etag}`, `"old", ${zipped.headers.etag}`, '*']) {
      const known = await ask(port, ['Accept-Encoding: gzip', `If-None-Match: ${tag}`]);
      expect([known.status, known.body, known.headers.etag, known.headers.vary]).toEqual([
        304,
        '',
        zipped.headers.etag,
        'Accept-Encoding',
      ]);
      expect(known.headers).not.toHaveProperty('content-encoding');
    }
    expect((await ask(port, [`If-None-Match: ${zipped.headers.etag}`])).status).toBe(200);
  });

  it('answers HEAD with the same headers, and no body', async () => {
    await using service = await startTestServer();
    for (const headers of [[], ['Accept-Encoding: gzip']]) {
      const shown = await ask(service.server.port, headers, 'HEAD');
      const whole = await ask(service.server.port, headers);
      const { date: _, ratelimit: __, ...same } = whole.headers;
      expect(shown).toEqual({ status: 200, headers: expect.objectContaining(same), body: '' });
    }
  });
});

it.each(['/docs', '/openapi.json', '/.well-known/jwks.json'])(
  'counts requests for %s without a token by address, and lets others in meanwhile',
  async (path) => {
    await using service = await startTestServer({ behindProxy: ['127.0.0.1/32'] });
    const from = (address: string) => ask(service.server.port, [`X-Forwarded-For: ${address}`], 'GET', path);
    let response = await from('198.51.100.7');
    expect(response).toMatchObject({ status: 200, headers: { ratelimit: '"public";r=99;t=1' } });
    // Some of its rate comes back meanwhile.
    for (let asked = 0; asked < 500 && response.status === 200; asked += 1) response = await from('198.51.100.7');
    expect(response).toMatchObject({
      status: 429,
      headers: { 'ratelimit-policy': '"public";q=600;w=60', 'retry-after': '1' },
      body: '{"message":"Rate limit exceeded","code":3}',
    });
    expect((await from('203.0.113.9')).status).toBe(200);
    expect((await ask(service.server.port, ['X-Forwarded-For: 198.51.100.7'], 'GET', '/health')).status).toBe(200);
  },
);

describe('a page', () => {
  const request = { method: 'GET', target: '/', peer: '127.0.0.1', readBody: async () => new Uint8Array() };
  const asking = (coding: string) => ({
    ...request,
    headers: { get: (name: string) => (name === 'accept-encoding' ? coding : null), lines: () => [] },
  });

  it('is made at its first request, once for all codings and callers', async () => {
    let made = 0;
    const get = staticPage(async () => `page ${++made}`, {});
    expect(made).toBe(0);
    const codings = ['gzip', '', 'gzip', ''];
    const bodies = await Promise.all(codings.map(async (coding) => (await get(asking(coding))).body as Buffer));
    const read = [gunzipSync, (body: Buffer) => body] as const;
    expect(bodies.map((body, at) => String(read[at % 2]?.(body)))).toEqual(codings.map(() => 'page 1'));
    expect(bodies[0]).toBe(bodies[2]);
  });

  it('is made anew when that failed', async () => {
    const results = [() => Promise.reject(new Error('no such file')), () => 'there'];
    const get = staticPage(() => results.shift()?.() ?? '', {});
    await expect(get(asking(''))).rejects.toThrow('no such file');
    expect(String((await get(asking(''))).body)).toBe('there');
  });
});

it('gives the document in process as well', async () => {
  await using world = await createWorld();
  expect((await world.call('nobody', 'GET', '/openapi.json')).text).toBe(document);
});
