import { describe, expect } from 'vitest';
import type { Fetch } from '../../src/contract/endpoint.ts';
import type { Event } from '../../src/contract/events.ts';
import { type FollowOptions, followEvents, type Timing } from '../../src/index.ts';
import { startServer } from '../../src/server/index.ts';
import { test as it } from '../support/fixtures.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { fakeTiming } from './fake-timing.ts';

const elsewhere = { baseUrl: 'https://lkm.example', token: 'x' };

const customer = (service: TestServer) => service.call('POST', '/customer', { name: 'Zoë' });

const eventOf = (seq: number, type = 'ping') => ({
  ...{ id: `evt_${seq}`, seq, type, api_version: '2026-11-21', created_at: '2026-11-21T12:00:00.000Z' },
  ...{ resource_type: 'webhook', resource_id: 'w', actor: { type: 'job', id: 'j' }, data: {} },
  ...{ request_id: null, address: null },
});

const part = (last: number, seqs: readonly number[]) =>
  Response.json({ data: seqs.map((seq) => eventOf(seq)), meta: { last }, code: 0 });

/** A service that gives the answers one after the other, and ends the follower after the last. */
function scripted(...answers: readonly (() => Response | Promise<Response>)[]) {
  const seen: string[] = [];
  const end = new AbortController();
  const timing = fakeTiming();
  const fetch: Fetch = async ({ url }) => {
    const answer = answers[seen.length];
    seen.push(url.slice(elsewhere.baseUrl.length));
    if (seen.length === answers.length) end.abort();
    return answer ? answer() : Response.error();
  };
  return { seen, waits: timing.waits, signal: end.signal, options: { ...elsewhere, fetch, timing: timing as Timing } };
}

describe('followEvents', () => {
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
    await expect.poll(() => seen.length, { timeout: 5_000 }).toBe(31);
    await server.close();
    const second = await startServer({ db, host: '127.0.0.1', port, logFormat: 'none', logTo: { write: () => {} } });
    for (let made = 0; made < 30; made += 1) await customer(first);
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(61);
    expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 61 }, (_, index) => index + 1));
    end.abort();
    await following;
    await second.close();
  });

  it('asks every second, after the last event, and at once while a part is full', async () => {
    const { seen, waits, signal, options } = scripted(
      () => part(1_007, [8]),
      () => part(1_010, [1_008, 1_010]),
      () => part(1_010, []),
      () => part(1_010, []),
    );
    const events = await Array.fromAsync(followEvents(options, { after: 7, type: ['ping'], signal }));
    expect(events.map(({ seq }) => seq)).toEqual([8, 1_008, 1_010]);
    expect(seen).toEqual([7, 1_007, 1_010, 1_010].map((after) => `/event/list?after=${after}&limit=1000&type=ping`));
    expect(waits).toEqual([1_000, 1_000, 1_000]);
  });

  it('begins with what happens from now on, unless it is told after which event', async () => {
    const { seen, signal, options } = scripted(
      () => part(41, []),
      () => part(42, [42]),
      () => part(42, []),
    );
    const events = await Array.fromAsync(followEvents(options, { signal }));
    expect(events).toMatchObject([{ seq: 42 }]);
    expect(seen[0]).toBe('/event/list?after=2147483647&limit=1');
    expect(seen[1]).toBe('/event/list?after=41&limit=1000');
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
  });

  it('says when the service goes away, with each new reason, and when it is back', async () => {
    const refused = () => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));
    const full = { message: 'Too many requests', code: 3 };
    const { signal, waits, options } = scripted(
      refused,
      refused,
      () => Response.json(full, { status: 429 }),
      () => part(1, [1]),
      () => part(1, []),
    );
    const told: (string | undefined)[] = [];
    const onAway = (why: Error | null) => told.push(why?.message);
    expect(await Array.fromAsync(followEvents(options, { after: 0, onAway, signal }))).toMatchObject([{ seq: 1 }]);
    expect(told).toEqual(['no answer from lkm.example after 1 attempt', full.message, undefined]);
    expect(waits).toEqual([1_000, 2_000, 4_000, 1_000, 1_000]);
  });

  it.each<[string, FollowOptions, object]>([
    ['input that cannot be sent', { after: -1 }, { name: 'InputError' }],
    ['a page for people', { after: 0 }, { name: 'ProtocolError', foreign: true }],
    ['an event outside the contract', { after: 1 }, { name: 'ProtocolError', foreign: false }],
    ['a refusal that is none of the service', { after: 2 }, { name: 'ProtocolError', foreign: true }],
    ['a certificate that is not trusted', { after: 3 }, { name: 'NetworkError', sent: false }],
  ])('ends with %s', async (_, follow, error) => {
    const notTrusted = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    const html = { 'content-type': 'text/html' };
    const answers = [
      () => new Response('<html>', { headers: html }),
      () => Response.json({ data: [{ seq: 2 }], meta: { last: 2 }, code: 0 }),
      () => new Response('<html>', { status: 404, headers: html }),
      () => Promise.reject(notTrusted),
    ];
    const fetch = async () => answers[follow.after ?? 0]?.() ?? Response.error();
    const following = followEvents({ ...elsewhere, fetch }, follow);
    await expect(following.next()).rejects.toMatchObject(error);
  });

  it('waits as long as the service asks', async () => {
    const { waits, signal, options } = scripted(
      () => new Response('', { status: 429, headers: { 'retry-after': '900' } }),
      () => part(0, []),
    );
    await Array.fromAsync(followEvents(options, { signal }));
    expect(waits[0]).toBe(900_000);
  });

  it.each([
    ['does not answer', () => Promise.reject(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))],
    ['is overloaded', () => new Response('', { status: 503 })],
    ['breaks off', () => new Response(new ReadableStream({ pull: (body) => body.error(new Error('terminated')) }))],
  ])('comes back to a service that %s', async (_, answer) => {
    const { signal, options } = scripted(
      answer,
      () => part(1, [1]),
      () => part(1, []),
    );
    expect(await Array.fromAsync(followEvents(options, { after: 0, signal }))).toMatchObject([{ seq: 1 }]);
  });

  it('ends with its signal while it waits for a service that is not there', async () => {
    const end = new AbortController();
    const away = Promise.withResolvers<void>();
    const follow = { signal: end.signal, onAway: () => away.resolve() };
    const following = followEvents({ baseUrl: 'http://127.0.0.1:9', token: 'x' }, follow).next();
    await away.promise;
    end.abort();
    expect(await following).toEqual({ done: true, value: undefined });
  });
});
