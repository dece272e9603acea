import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { mintToken } from '../../src/domain/token.ts';
import { test as it } from '../support/fixtures.ts';
import { absentIds } from '../support/requests.ts';
import { type Answer, type As, createWorld, PEER, type World } from '../support/world.ts';

const limited = { message: 'Rate limit exceeded', code: 3 };

beforeEach(() => {
  // The limiter counts by the real clock, which stands still here.
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 0 });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the limit of a token', () => {
  it('is told on every answer, and refuses what is over it', async () => {
    await using world = await createWorld({ perMinute: 2 });
    const answers = [];
    for (let i = 0; i < 3; i += 1) answers.push(await world.call('admin', 'GET', '/customer'));
    expect(answers.map(whatIsTold)).toEqual([
      { status: 200, 'ratelimit-policy': '"requests";q=2;w=60', ratelimit: '"requests";r=1;t=30' },
      { status: 200, 'ratelimit-policy': '"requests";q=2;w=60', ratelimit: '"requests";r=0;t=60' },
      {
        status: 429,
        'ratelimit-policy': '"requests";q=2;w=60',
        ratelimit: '"requests";r=0;t=60',
        'retry-after': '30',
      },
    ]);
    expect(answers.at(-1)?.body).toEqual(limited);
  });

  it('counts refused requests too', async () => {
    await using world = await createWorld({ perMinute: 2 });
    const ask = () => world.call('read-only', 'POST', '/customer', {});
    expect(await statusesOf(ask, ask, ask)).toEqual([403, 403, 429]);
  });

  it('keeps a mutation that is over it from being run', async () => {
    await using world = await createWorld({ perMinute: 1 });
    await world.call('admin', 'GET', '/customer');
    const before = await world.contents();
    expect((await world.call('admin', 'POST', '/customer', { name: 'Acme' })).status).toBe(429);
    expect(await world.contents()).toEqual(before);
  });

  it('is each token’s own', async () => {
    await using world = await createWorld({ perMinute: 1 });
    const ask = (as: As) => () => world.call(as, 'GET', '/customer');
    const callers = [ask('admin'), ask('admin'), ask('read-only'), ask('other admin')];
    expect(await statusesOf(...callers)).toEqual([200, 429, 200, 200]);
  });

  it('tells in whole seconds, rounded up, when the minute is over, and lets in again then', async () => {
    await using world = await createWorld({ perMinute: 1 });
    await world.call('admin', 'GET', '/customer');
    vi.setSystemTime(59_001);
    expect(whatIsTold(await world.call('admin', 'GET', '/customer'))).toEqual({
      status: 429,
      'ratelimit-policy': '"requests";q=1;w=60',
      ratelimit: '"requests";r=0;t=1',
      'retry-after': '1',
    });
    vi.setSystemTime(60_000);
    expect((await world.call('admin', 'GET', '/customer')).status).toBe(200);
  });

  it('is one of its own where the token says so, and the service says none', async () => {
    await using world = await createWorld({ perMinute: 100 });
    const slow: As = { scopes: ['customer:read'], rateLimit: 2 };
    const ask = () => world.call(slow, 'GET', '/customer');
    expect(await statusesOf(ask, ask, ask)).toEqual([200, 200, 429]);
    expect((await ask()).headers['ratelimit-policy']).toBe('"requests";q=2;w=60');
  });

  it('does not hold for the public keys', async () => {
    await using world = await createWorld({ perMinute: 1 });
    for (let i = 0; i < 3; i += 1) {
      expect(whatIsTold(await world.call('admin', 'GET', '/.well-known/jwks.json'))).toEqual({ status: 200 });
    }
  });
});

describe('the limit of failed authentication', () => {
  it('refuses an address that has failed 10 times, and says when to come back', async ({ world }) => {
    expect(await failTimes(world, 10)).toEqual(Array(10).fill(401));
    const answer = await world.call({ token: mintToken('admin', new Uint8Array(32)) }, 'GET', '/customer');
    expect(answer.body).toEqual(limited);
    expect(whatIsTold(answer)).toEqual({
      status: 429,
      'ratelimit-policy': '"failures";q=10;w=60',
      ratelimit: '"failures";r=0;t=60',
      'retry-after': '6',
    });
  });

  it('lets a good token in from an address that has failed too often', async ({ world }) => {
    await failTimes(world, 11);
    expect((await world.call('admin', 'GET', '/customer')).status).toBe(200);
  });

  it('is not got round by an X-Forwarded-For that nobody trusted wrote', async ({ world }) => {
    await failTimes(world, 10);
    const headers = { 'X-Forwarded-For': '198.51.100.1' };
    expect((await world.call('nobody', 'GET', '/customer', undefined, headers)).status).toBe(429);
  });

  it('is each address’s own', async () => {
    await using world = await createWorld({ behindProxy: [PEER] });
    await failTimes(world, 11, '198.51.100.1');
    expect(await failTimes(world, 1, '198.51.100.1')).toEqual([429]);
    expect(await failTimes(world, 1, '198.51.100.2')).toEqual([401]);
  });

  it('is one for all addresses of an IPv6 subscriber', async () => {
    await using world = await createWorld({ behindProxy: [PEER] });
    for (let host = 1; host <= 10; host += 1) await failTimes(world, 1, `2001:db8:0:1::${host}`);
    expect(await failTimes(world, 1, '2001:db8:0:1:ffff:ffff:ffff:ffff')).toEqual([429]);
    expect(await failTimes(world, 1, '2001:db8:0:2::1')).toEqual([401]);
  });

  it('gives one more try after the time that it says', async ({ world }) => {
    await failTimes(world, 30);
    for (let i = 0; i < 3; i += 1) {
      vi.setSystemTime(Date.now() + 5_999);
      expect(await failTimes(world, 1)).toEqual([429]);
      vi.setSystemTime(Date.now() + 1);
      expect(await failTimes(world, 2)).toEqual([401, 429]);
    }
  });
});

describe('the limit of look-ups of unknown keys', () => {
  const absent = { productId: absentIds.productId };
  const unknown = (index: number) => `00000-00000-00000-00000-${String(index).padStart(5, '0')}`;

  async function guess(world: World, times: number, address = '198.51.100.9', as: As = 'client'): Promise<number[]> {
    const headers = { 'X-Forwarded-For': address };
    const guesses = Array.from({ length: times }, (_, index) => ({ ...absent, licenseKey: unknown(index) }));
    return statusesOf(...guesses.map((body) => () => world.call(as, 'POST', '/key/checkout', body, headers)));
  }

  it('refuses a token that guesses, and says when to come back', async ({ world }) => {
    expect(await guess(world, 100)).toEqual(Array(100).fill(404));
    const query = new URLSearchParams({ ...absent, licenseKey: unknown(1) });
    const answer = await world.call('client', 'POST', '/key/checkout', Object.fromEntries(query));
    expect(answer.body).toEqual(limited);
    expect(whatIsTold(answer)).toEqual({
      status: 429,
      'ratelimit-policy': '"lookups";q=100;w=60',
      ratelimit: '"lookups";r=0;t=60',
      'retry-after': '1',
    });
  });

  it('holds for every operation that names a key, found or not, and for no other', async ({ world }) => {
    const product = await world.product();
    const licenseKey = await world.key({ productId: product.id });
    await guess(world, 100, '198.51.100.9', 'admin');
    const address = { productId: product.id, licenseKey };
    const statuses = [
      (await world.call('admin', 'GET', `/key?${new URLSearchParams(address)}`)).status,
      (await world.call('admin', 'POST', '/deactivate-key', address)).status,
      (await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'h' })).status,
      (await world.call('admin', 'POST', '/create-key', { productId: product.id })).status,
      (await world.call('admin', 'GET', '/customer')).status,
    ];
    expect(statuses).toEqual([429, 429, 429, 200, 200]);
  });

  it('leaves found keys, other addresses and other tokens alone', async () => {
    await using world = await createWorld({ behindProxy: [PEER] });
    const product = await world.product();
    const licenseKey = await world.key({ productId: product.id });
    for (let index = 0; index < 150; index += 1) {
      expect(
        (await world.call('admin', 'GET', `/key?${new URLSearchParams({ productId: product.id, licenseKey })}`)).status,
      ).toBe(200);
    }
    await guess(world, 100, '198.51.100.1');
    expect(await guess(world, 1, '198.51.100.1')).toEqual([429]);
    expect(await guess(world, 1, '198.51.100.2')).toEqual([404]);
    expect(await guess(world, 1, '198.51.100.1', 'admin')).toEqual([404]);
  });

  it('slows down to the rate, and does not count the copies of a stored refusal', async ({ world }) => {
    const body = { ...absent, licenseKey: unknown(1) };
    for (let index = 0; index < 150; index += 1) {
      expect((await world.call('client', 'POST', '/key/checkout', body, { 'Idempotency-Key': 'one' })).status).toBe(
        404,
      );
    }
    await guess(world, 99);
    expect(await guess(world, 1)).toEqual([429]);
    vi.setSystemTime(600);
    expect(await guess(world, 2)).toEqual([404, 429]);
  });
});

/** The statuses of requests that are made one after the other. */
async function statusesOf(...requests: readonly (() => Promise<Answer>)[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const request of requests) statuses.push((await request()).status);
  return statuses;
}

const failTimes = (world: World, times: number, address = '198.51.100.9'): Promise<number[]> =>
  statusesOf(
    ...Array(times).fill(() => world.call('nobody', 'GET', '/customer', undefined, { 'X-Forwarded-For': address })),
  );

function whatIsTold({ status, headers }: Answer) {
  const about = Object.entries(headers).filter(([name]) => /^ratelimit|^retry/.test(name));
  return { status, ...Object.fromEntries(about) };
}
