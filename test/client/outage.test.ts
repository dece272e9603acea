import { createServer } from 'node:http';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemTiming } from '../../src/client/timing.ts';
import type { Fetch } from '../../src/contract/endpoint.ts';
import { type ClientOptions, createClient } from '../../src/index.ts';
import { issued, licenseKey, productId } from './examples.ts';
import { fakeTiming, noon } from './fake-timing.ts';
import { unusedAddress } from './loopback.ts';

const refuseConnection = async (): Promise<Response> => {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
  throw new TypeError('fetch failed', { cause });
};
const answer = async () => Response.json(issued);
const badGateway = async () => new Response('<h1>Bad Gateway</h1>', { status: 502 });
const unavailable = async () =>
  Response.json({ message: 'no', code: 1 }, { status: 503, headers: { 'retry-after': '1' } });
const reset = async (): Promise<Response> => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('read'), { code: 'ECONNRESET' }) });
};

/** A service that behaves like `down` for a time and then answers, with a client whose time is set. */
function outage(down: Fetch, durationMs: number, options: Partial<ClientOptions> = {}) {
  const timing = { ...fakeTiming(), ...options.timing };
  let requests = 0;
  const fetch: Fetch = (request) => {
    requests += 1;
    return timing.now() < noon + durationMs ? down(request) : answer();
  };
  const client = createClient({ baseUrl: 'https://service.example', fetch, ...options, timing });
  const create = () => client.keys.create({ productId });
  return { create, requests: () => requests, elapsedMs: () => timing.now() - noon };
}

describe('a restart of ten seconds is outlasted, whatever the jitter, when', () => {
  test.each<[string, Fetch]>([
    ['connections are refused', refuseConnection],
    ['a proxy answers 502', badGateway],
    ['the service answers 503', unavailable],
  ])('%s', async (_title, down) => {
    const chances = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));
    await fc.assert(
      fc.asyncProperty(chances, async (stream) => {
        const random = () => stream.next().value;
        const { create } = outage(down, 10_000, { timing: { ...fakeTiming(), random } });
        expect(await create()).toEqual({ key: licenseKey });
      }),
    );
  });
});

test('a service that stays away is tried for 30 seconds, a few times', async () => {
  const { create, requests, elapsedMs } = outage(refuseConnection, 3_600_000);
  await expect(create()).rejects.toMatchObject({ name: 'NetworkError', sent: false });
  expect(elapsedMs()).toBe(30_000);
  expect(requests()).toBeLessThan(20);
});

test.each([
  ['no connection within the time', { code: 'UND_ERR_CONNECT_TIMEOUT' }],
  ['a name server that is busy', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }],
])('%s counts as a service that stays away: nothing was sent', async (_title, system) => {
  const { create, elapsedMs } = outage(async () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('no connection'), system) });
  }, 3_600_000);
  await expect(create()).rejects.toMatchObject({ name: 'NetworkError', sent: false });
  expect(elapsedMs()).toBe(30_000);
});

test('a number of retries bounds the attempts on a service that stays away', async () => {
  const { create, requests } = outage(refuseConnection, 3_600_000, { maxRetries: 2 });
  await expect(create()).rejects.toMatchObject({ call: { attempts: 3 } });
  expect(requests()).toBe(3);
});

test('no time allowed means no retry', async () => {
  const { create, requests } = outage(refuseConnection, 3_600_000, { maxElapsedMs: 0 });
  await expect(create()).rejects.toMatchObject({ name: 'NetworkError' });
  expect(requests()).toBe(1);
});

test('lost responses are repeated four times, since each may have been carried out', async () => {
  const { create, requests } = outage(reset, 3_600_000);
  await expect(create()).rejects.toMatchObject({ name: 'NetworkError', sent: true });
  expect(requests()).toBe(5);
});

test('waits for a server that comes up late, with the same key and the same bytes', async () => {
  const baseUrl = await unusedAddress();
  const seen: unknown[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers['idempotency-key']);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(issued));
  });
  onTestFinished(() => void server.close());
  // With these waits the fourth retry is 1.9 seconds after the first attempt, the fifth 3.9.
  const timing = { ...systemTiming, random: () => 0.5, newKey: () => 'key-1' };
  const created = createClient({ baseUrl, timing }).keys.create({ productId });
  setTimeout(() => server.listen(Number(new URL(baseUrl).port), '127.0.0.1'), 2_300);
  expect(await created).toEqual({ key: licenseKey });
  expect(seen).toEqual(['key-1']);
});
