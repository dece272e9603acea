import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Fetch } from '../../src/contract/endpoint.ts';
import { type ClientOptions, createClient } from '../../src/index.ts';
import { issued, licenseKey, productId } from './examples.ts';
import { fakeTiming, noon } from './fake-timing.ts';

const systemError = (system: object) => async (): Promise<Response> => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('no connection'), system) });
};
const refuseConnection = systemError({ code: 'ECONNREFUSED', syscall: 'connect' });
const answer = async () => Response.json(issued);
const badGateway = async () => new Response('<h1>Bad Gateway</h1>', { status: 502 });
const unavailable = async () =>
  Response.json({ message: 'no', code: 1 }, { status: 503, headers: { 'retry-after': '1' } });
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

test.each<[string, Fetch]>([
  ['refuses connections', refuseConnection],
  ['accepts no connection within the time', systemError({ code: 'UND_ERR_CONNECT_TIMEOUT' })],
  ['cannot be found by a busy name server', systemError({ code: 'EAI_AGAIN', syscall: 'getaddrinfo' })],
])('a service that %s is tried for 30 seconds, a few times: nothing was sent', async (_title, down) => {
  const { create, requests, elapsedMs } = outage(down, 3_600_000);
  await expect(create()).rejects.toMatchObject({ name: 'NetworkError', sent: false });
  expect(elapsedMs()).toBe(30_000);
  expect(requests()).toBeLessThan(20);
});

test.each<[string, Fetch, Partial<ClientOptions>, number]>([
  ['a number of retries bounds the attempts on a service that stays away', refuseConnection, { maxRetries: 2 }, 3],
  ['no time allowed means no retry', refuseConnection, { maxElapsedMs: 0 }, 1],
])('%s', async (_title, down, options, attempts) => {
  const { create, requests } = outage(down, 3_600_000, options);
  await expect(create()).rejects.toMatchObject({ name: 'NetworkError', call: { attempts } });
  expect(requests()).toBe(attempts);
});
