import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { systemTiming } from '../../src/client/timing.ts';
import type { Fetch } from '../../src/contract/endpoint.ts';
import type { Event } from '../../src/contract/events.ts';
import { type FollowOptions, followEvents, type Timing } from '../../src/index.ts';
import { test as it } from '../support/fixtures.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { createWorld } from '../support/world.ts';

/** Opens a stream; resolves with its response, and what has come of it. */
async function open({ server, adminToken }: TestServer, path = '/event/stream', headers: Record<string, string> = {}) {
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const response = await fetch(server.url + path, {
    headers: { authorization: `Bearer ${adminToken}`, ...headers },
    signal: ended.signal,
  });
  const stream = { response, text: '', isOver: false, end: () => ended.abort() };
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) stream.text += decoder.decode(chunk, { stream: true });
    stream.isOver = true;
  })().catch(() => {});
  return stream;
}

const seqsOf = (text: string): number[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']): number => JSON.parse(json).seq);

const stream = { headers: { 'content-type': 'text/event-stream' } };

/** Waits for nothing. */
const atOnce: Timing = { ...systemTiming, sleep: async () => {} };

const customer = (service: TestServer) => service.call('POST', '/customer', { name: 'Zoë' });

describe('GET /event/stream', () => {
  it('sends what happens from then on, as server-sent events', async ({ service }) => {
    await customer(service);
    await expect.poll(async () => (await service.call('GET', '/event/list')).body.data.length).toBe(2);
    const stream = await open(service);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    await customer(service);
    await expect.poll(() => seqsOf(stream.text)).toEqual([3]);
    expect(stream.text).toMatch(/^retry: 1000\nid: 2\n\nid: 3\nevent: customer.created\ndata: \{"id":"evt_/);
    const listed = (await service.call('GET', '/event/list?after=2')).body.data;
    expect(JSON.parse(/^data: (.*)$/m.exec(stream.text)?.[1] ?? '')).toEqual(listed[0]);
  });

  it('goes on behind the last event that the caller has seen', async ({ service }) => {
    for (let made = 0; made < 250; made += 1) await customer(service);
    const stream = await open(service, '/event/stream?after=240', { 'last-event-id': '7' });
    await expect.poll(() => seqsOf(stream.text).length).toBe(244);
    expect(seqsOf(stream.text)).toEqual(Array.from({ length: 244 }, (_, index) => index + 8));
  });

  it('sends some types only, and says how far it has come', async ({ service }) => {
    const stream = await open(service, '/event/stream?after=0&type=product.created');
    await customer(service);
    await service.call('POST', '/product', { name: 'Editor' });
    await customer(service);
    await expect.poll(() => stream.text).toContain('id: 4\n\n');
    expect(seqsOf(stream.text)).toEqual([3]);
  });

  it.each([
    ['nobody', {}, '', {}, 401],
    ['a token of another kind', { kind: 'client' }, '', {}, 403],
    ['a token of some products', { kind: 'scoped', scopes: ['event:read'], productIds: true }, '', {}, 403],
    ['a number that is none', { kind: 'read-only' }, '?after=-1', {}, 400],
    ['a last number that is none', { kind: 'read-only' }, '', { 'last-event-id': 'evt_1' }, 400],
    ['a type that does not exist', { kind: 'read-only' }, '?type=license.eaten', {}, 400],
  ])('refuses %s', async (_, rights, query, headers, status) => {
    await using service = await startTestServer();
    const { id } = (await service.call('POST', '/product', { name: 'Editor' })).body.data;
    const productIds = 'productIds' in rights ? { productIds: [id] } : {};
    const made = await service.call('POST', '/token', { name: 'other', ...rights, ...productIds });
    const token = made.body.data?.token ?? 'none';
    const { response } = await open({ ...service, adminToken: token }, `/event/stream${query}`, headers);
    expect(response.status).toBe(status);
  });

  it('has so many places for a token, and frees them', async ({ service }) => {
    const streams = await Promise.all(Array.from({ length: 16 }, () => open(service)));
    const tooMany = await open(service);
    expect(tooMany.response.status).toBe(429);
    expect(tooMany.response.headers.get('retry-after')).toBe('5');
    expect((await service.call('HEAD', '/event/stream')).status).toBe(200);
    for (const stream of streams) stream.end();
    await expect.poll(async () => (await open(service)).response.status, { timeout: 5_000 }).toBe(200);
  });

  it('has so many places in all, and frees those of a token that was revoked', async ({ service }) => {
    const newToken = async () =>
      (await service.call('POST', '/token', { name: 'reader', kind: 'read-only' })).body.data;
    const tokens = await Promise.all(Array.from({ length: 8 }, newToken));
    const opening = tokens.flatMap(({ token }) =>
      Array.from({ length: 16 }, () => open({ ...service, adminToken: token })),
    );
    for (const { response } of await Promise.all(opening)) expect(response.status).toBe(200);
    expect((await open(service)).response.status).toBe(429);
    await service.call('DELETE', `/token/by-id?tokenId=${tokens[0].id}`);
    await expect.poll(async () => (await open(service)).response.status, { timeout: 5_000 }).toBe(200);
  });

  it('ends at once when the server stops', async ({ service }) => {
    const stream = await open(service);
    const started = Date.now();
    await service.server.close();
    expect(Date.now() - started).toBeLessThan(3_000);
    await expect.poll(() => stream.isOver).toBe(true);
  });

  it('ends with its token, also for a caller that is far behind', async () => {
    let milliseconds = 0;
    await using world = await createWorld({ monotonic: () => milliseconds });
    for (let made = 0; made < 400; made += 1) await world.customer();
    await world.sequence();
    const [revoked, kept] = await Promise.all([world.tokenOf({ scopes: ['event:read'] }), world.tokenOf('read-only')]);
    const follow = async (token: string | null) => {
      const headers = { authorization: `Bearer ${token}` };
      const { body } = await world.fetch('/event/stream?after=0', { headers });
      return body?.pipeThrough(new TextDecoderStream()).getReader();
    };
    const [first, second] = [await follow(revoked), await follow(kept)];
    const begun = [(await first?.read())?.value, (await second?.read())?.value];
    const self = await world.call({ token: revoked ?? '' }, 'GET', '/token/self');
    const gone = await world.call('admin', 'DELETE', `/token/by-id?tokenId=${self.body.data.id}`);
    expect(gone.status).toBe(200);
    milliseconds += 15_000;
    const readOn = async (reader: typeof first, text = '') => {
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
      return seqsOf(text);
    };
    expect((await readOn(first, begun[0])).length).toBeLessThanOrEqual(200);
    // With the event of the revocation.
    expect((await readOn(second, begun[1])).length).toBe(401);
  });

  it('sends no event after the sign of life that a token was revoked behind', async () => {
    let milliseconds = 0;
    await using world = await createWorld({ monotonic: () => milliseconds });
    await world.customer();
    await world.sequence();
    const token = await world.tokenOf({ scopes: ['event:read'] });
    const { body } = await world.fetch('/event/stream?after=0', { headers: { authorization: `Bearer ${token}` } });
    const reader = body?.getReader();
    const read = async () => new TextDecoder().decode((await reader?.read())?.value);
    expect(await read()).toContain('retry: ');
    milliseconds += 15_000;
    expect(await read()).toContain(': alive\n');
    const self = await world.call({ token: token ?? '' }, 'GET', '/token/self');
    await world.call('admin', 'DELETE', `/token/by-id?tokenId=${self.body.data.id}`);
    expect(await read()).toBe('');
  });

  it('ends at the first event after its token was revoked', async ({ service }) => {
    const { data } = (await service.call('POST', '/token', { name: 'reader', kind: 'read-only' })).body;
    const stream = await open({ ...service, adminToken: data.token });
    expect(stream.response.status).toBe(200);
    expect((await service.call('DELETE', `/token/by-id?tokenId=${data.id}`)).status).toBe(200);
    await customer(service);
    const started = Date.now();
    await expect.poll(() => stream.isOver, { timeout: 5_000 }).toBe(true);
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(stream.text).not.toContain('customer.created');
  });

  it('in process ends with what there is', async ({ world }) => {
    await world.customer();
    await world.sequence();
    const answer = await world.call('read-only', 'GET', '/event/stream?after=0');
    expect(seqsOf(answer.text)).toEqual([1]);
    expect(answer.text).toContain('"address":"203.0.*.*"');
  });
});

describe('followEvents', () => {
  const elsewhere = { baseUrl: 'https://lkm.example', token: 'x' };

  it('sees each event once, in order, while the server is restarted', async () => {
    await using first = await startTestServer();
    const { adminToken, server } = first;
    const { port, db } = server;
    const end = new AbortController();
    const seen: Event[] = [];
    const following = (async () => {
      const options = { baseUrl: server.url, token: adminToken };
      for await (const event of followEvents(options, { after: 0, signal: end.signal })) seen.push(event);
    })();
    for (let made = 0; made < 30; made += 1) await customer(first);
    await server.close();
    const { startServer } = await import('../../src/server/index.ts');
    const second = await startServer({ db, host: '127.0.0.1', port, logFormat: 'none', logTo: { write: () => {} } });
    for (let made = 0; made < 30; made += 1) await customer(first);
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(61);
    expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 61 }, (_, index) => index + 1));
    end.abort();
    await following;
    await second.close();
  });

  it('ends with what the service refuses', async ({ service }) => {
    const made = await service.call('POST', '/token', { name: 'app', kind: 'client' });
    const options = { baseUrl: service.server.url, token: made.body.data.token };
    await expect(followEvents(options).next()).rejects.toMatchObject({ name: 'ApiError', reason: 'scopeMissing' });
  });

  it('ends when the service is behind what was seen, as after it was restored', async ({ service }) => {
    const options = { baseUrl: service.server.url, token: service.adminToken };
    const ahead = {
      name: 'ApiError',
      reason: 'aheadOfService',
      message: 'The service is at event 1: was it restored?',
    };
    await expect(followEvents(options, { after: 2 }).next()).rejects.toMatchObject(ahead);
    const stream = await open(service, '/event/stream', { 'last-event-id': '999999' });
    expect(stream.response.status).toBe(409);
  });

  it('says when the service goes away, and when it is back', async () => {
    const page = `id: 1\ndata: ${JSON.stringify(event)}\n\n`;
    const full = { message: 'Too many streams of events are open', code: 3 };
    const answers = [
      () => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' })),
      () => Response.json(full, { status: 429 }),
      () => new Response(page, stream),
    ];
    const fetch = async () => answers.shift()?.() ?? new Response('', stream);
    const told: (string | undefined)[] = [];
    const onAway = (why: Error | null) => told.push(why?.message);
    const following = followEvents({ ...elsewhere, fetch, timing: atOnce }, { after: 0, onAway });
    expect((await following.next()).value).toMatchObject({ seq: 1 });
    expect(told).toEqual(['no answer from lkm.example after 1 attempt', full.message, undefined]);
    await following.return();
  });

  it('says when nothing has come through for 30 seconds', async () => {
    vi.useFakeTimers();
    const told: (string | undefined)[] = [];
    const end = new AbortController();
    const onAway = (why: Error | null) => {
      told.push(why?.message);
      end.abort();
    };
    const fetch: Fetch = async ({ signal }) => {
      const start = (body: ReadableStreamDefaultController) =>
        signal.addEventListener('abort', () => body.error(signal.reason));
      return new Response(new ReadableStream({ start }), stream);
    };
    const next = followEvents({ ...elsewhere, fetch, timing: atOnce }, { after: 0, onAway, signal: end.signal }).next();
    await vi.advanceTimersByTimeAsync(29_000);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(told).toEqual([expect.stringContaining('nothing has come through for 30 seconds')]);
    await next;
    vi.useRealTimers();
  });

  it.each<[string, FollowOptions, object]>([
    ['input that cannot be sent', { after: -1 }, { name: 'InputError' }],
    ['a page for people', {}, { name: 'ProtocolError', foreign: true }],
    ['a page of a stream', { after: 1 }, { name: 'ProtocolError', foreign: false }],
    ['a refusal that is none of the service', { after: 2 }, { name: 'ProtocolError', foreign: true }],
    ['a certificate that is not trusted', { after: 3 }, { name: 'NetworkError', sent: false }],
  ])('ends with %s', async (_, follow, error) => {
    const notTrusted = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    const html = { 'content-type': 'text/html' };
    const answers = [
      () => new Response('<html>', { headers: html }),
      () => new Response('id: 2\ndata: {"seq":2}\n\n', { headers: { 'content-type': 'text/event-stream' } }),
      () => new Response('<html>', { status: 404, headers: html }),
      () => Promise.reject(notTrusted),
    ];
    const fetch = async () => answers[follow.after ?? 0]?.() ?? Response.error();
    const following = followEvents({ ...elsewhere, fetch }, follow);
    await expect(following.next()).rejects.toMatchObject(error);
  });

  const event = {
    ...{ id: 'evt_1', seq: 1, type: 'ping', api_version: '2026-11-21', created_at: '2026-11-21T12:00:00.000Z' },
    ...{ resource_type: 'webhook', resource_id: 'w', actor: { type: 'job', id: 'j' }, data: {} },
    ...{ request_id: null, address: null },
  };
  const text = JSON.stringify(event, null, 1);

  it.each(['\n', '\r\n', '\r'])('reads lines that end with %j, in pieces of any length', async (end) => {
    const lines = [': hello', 'id:7', ...text.split('\n').map((line) => `data: ${line}`), '', '', ''].join(end);
    for (const size of [1, 7, lines.length]) {
      const pieces = Array.from({ length: Math.ceil(lines.length / size) }, (_, at) =>
        new TextEncoder().encode(lines.slice(at * size, (at + 1) * size)),
      );
      const fetch = async () => new Response(ReadableStream.from(pieces), stream);
      const following = followEvents({ ...elsewhere, fetch });
      expect((await following.next()).value).toMatchObject({ id: 'evt_1', seq: 1 });
      await following.return();
    }
  });

  it('ends with an event that does not end', async () => {
    const piece = new TextEncoder().encode(`data: ${'x'.repeat(1_000_000)}\n`);
    async function* endless() {
      for (;;) yield piece;
    }
    const fetch = async () => new Response(ReadableStream.from(endless()), stream);
    const following = followEvents({ ...elsewhere, fetch });
    await expect(following.next()).rejects.toMatchObject({ name: 'ProtocolError' });
  });

  it('waits as long as the service asks', async () => {
    const waits: number[] = [];
    const end = new AbortController();
    const timing: Timing = {
      ...systemTiming,
      sleep: async (ms) => {
        waits.push(ms);
        end.abort();
      },
    };
    const fetch = async () => new Response('', { status: 429, headers: { 'retry-after': '900' } });
    await followEvents({ ...elsewhere, fetch, timing }, { signal: end.signal }).next();
    expect(waits).toEqual([900_000]);
  });

  it.each([
    ['does not answer', () => Promise.reject(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))],
    ['is overloaded', () => new Response('', { status: 503 })],
    [
      'breaks off',
      () => new Response(new ReadableStream({ pull: (body) => body.error(new Error('terminated')) }), stream),
    ],
    ['ends at once', () => new Response('', stream)],
  ])('comes back to a service that %s', async (_, answer) => {
    await using service = await startTestServer();
    let calls = 0;
    const fetch: Fetch = async (request) => (++calls === 1 ? answer() : globalThis.fetch(request));
    const end = new AbortController();
    const options = { baseUrl: service.server.url, token: service.adminToken, fetch, timing: atOnce };
    const following = followEvents(options, { after: 0, signal: end.signal });
    expect((await following.next()).value).toMatchObject({ seq: 1 });
    end.abort();
    await following.return();
  });

  it('ends with its signal while it waits for a service that is not there', async () => {
    const end = new AbortController();
    const following = followEvents({ baseUrl: 'http://127.0.0.1:9', token: 'x' }, { signal: end.signal }).next();
    await sleep(50);
    end.abort();
    expect(await following).toEqual({ done: true, value: undefined });
  });
});
