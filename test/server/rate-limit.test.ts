import { beforeEach, describe, expect } from 'vitest';
import { mintToken } from '../../src/domain/token.ts';
import { test as it } from '../support/fixtures.ts';
import { absentIds } from '../support/requests.ts';
import { type Answer, type As, createWorld, PEER, type World } from '../support/world.ts';

const limited = { message: 'Rate limit exceeded', code: 3 };

let milliseconds = 0;
const monotonic = () => milliseconds;

beforeEach(() => {
  milliseconds = 0;
});

/** What an answer tells of a limit: requests left, seconds until all are there again, and until one is. */
function told(policy: string, limit: number, [left, full, retryAfter]: readonly (number | undefined)[]) {
  return {
    status: retryAfter === undefined ? 200 : 429,
    'ratelimit-policy': `"${policy}";q=${limit};w=60`,
    ratelimit: `"${policy}";r=${left};t=${full}`,
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  };
}

function whatIsTold({ status, headers }: Answer) {
  const about = Object.entries(headers).filter(([name]) => /^ratelimit|^retry/.test(name));
  return { status, ...Object.fromEntries(about) };
}

/** The statuses of requests that are made one after the other. */
async function statusesOf(...requests: readonly (() => Promise<Answer>)[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const request of requests) statuses.push((await request()).status);
  return statuses;
}

describe('the limit of a token', () => {
  it('is told on every answer, refuses what is over it, and lets in again when the time has come', async () => {
    await using world = await createWorld({ perMinute: 2, monotonic });
    const ask = () => world.call('admin', 'GET', '/customer');
    expect(whatIsTold(await ask())).toEqual(told('requests', 2, [1, 30]));
    expect(whatIsTold(await ask())).toEqual(told('requests', 2, [0, 60]));
    const refused = await ask();
    expect(refused.body).toEqual(limited);
    expect(whatIsTold(refused)).toEqual(told('requests', 2, [0, 60, 30]));
    milliseconds = 29_001;
    expect(whatIsTold(await ask())).toEqual(told('requests', 2, [0, 31, 1]));
    milliseconds = 30_000;
    expect((await ask()).status).toBe(200);
  });

  it('lets all requests of a minute come at once, as for a file of orders', async () => {
    await using world = await createWorld({ perMinute: 6_000, monotonic });
    expect(whatIsTold(await world.call('admin', 'GET', '/customer'))).toEqual(told('requests', 6_000, [5_999, 1]));
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

  it('is each token’s own, and does not hold for the public keys', async () => {
    await using world = await createWorld({ perMinute: 1 });
    const ask = (as: As) => () => world.call(as, 'GET', '/customer');
    const callers = [ask('admin'), ask('admin'), ask('read-only'), ask('other admin')];
    expect(await statusesOf(...callers)).toEqual([200, 429, 200, 200]);
    const keys = await world.call('admin', 'GET', '/.well-known/jwks.json');
    expect(whatIsTold(keys)).toEqual(told('public', 600, [99, 1]));
  });

  it('is one of its own where the token says so, and the service says none', async () => {
    await using world = await createWorld({ perMinute: 100 });
    const slow: As = { scopes: ['customer:read'], rateLimit: 2 };
    const ask = () => world.call(slow, 'GET', '/customer');
    expect(await statusesOf(ask, ask, ask)).toEqual([200, 200, 429]);
    expect((await ask()).headers['ratelimit-policy']).toBe('"requests";q=2;w=60');
  });
});

describe('the limit of failed authentication', () => {
  const failTimes = (world: World, times: number, address = '198.51.100.9'): Promise<number[]> =>
    statusesOf(
      ...Array(times).fill(() => world.call('nobody', 'GET', '/customer', undefined, { 'X-Forwarded-For': address })),
    );

  it('refuses an address that has failed 10 times, but no good token, and says when to come back', async () => {
    await using world = await createWorld({ monotonic });
    // An X-Forwarded-For that nobody trusted wrote gets nobody round it.
    expect(await failTimes(world, 5)).toEqual(Array(5).fill(401));
    expect(await failTimes(world, 5, '198.51.100.1')).toEqual(Array(5).fill(401));
    const answer = await world.call({ token: mintToken('admin', new Uint8Array(32)) }, 'GET', '/customer');
    expect(answer.body).toEqual(limited);
    expect(whatIsTold(answer)).toEqual(told('failures', 10, [0, 60, 6]));
    expect((await world.call('admin', 'GET', '/customer')).status).toBe(200);
    for (let i = 1; i <= 3; i += 1) {
      milliseconds = i * 6_000 - 1;
      expect(await failTimes(world, 1)).toEqual([429]);
      milliseconds = i * 6_000;
      expect(await failTimes(world, 2)).toEqual([401, 429]);
    }
  });

  it('is each address’s own, and one for all addresses of an IPv6 subscriber', async () => {
    await using world = await createWorld({ behindProxy: [PEER] });
    await failTimes(world, 11, '198.51.100.1');
    expect(await failTimes(world, 1, '198.51.100.1')).toEqual([429]);
    expect(await failTimes(world, 1, '198.51.100.2')).toEqual([401]);
    for (let host = 1; host <= 10; host += 1) await failTimes(world, 1, `2001:db8:0:1::${host}`);
    expect(await failTimes(world, 1, '2001:db8:0:1:ffff:ffff:ffff:ffff')).toEqual([429]);
    expect(await failTimes(world, 1, '2001:db8:0:2::1')).toEqual([401]);
  });
});

describe('the limit of look-ups of unknown keys', () => {
  const unknown = (index: number) => ({
    productId: absentIds.productId,
    licenseKey: `00000-00000-00000-00000-${String(index).padStart(5, '0')}`,
  });

  async function guess(world: World, times: number, address = '198.51.100.9', as: As = 'client'): Promise<number[]> {
    const headers = { 'X-Forwarded-For': address };
    const guesses = Array.from({ length: times }, (_, index) => unknown(index));
    return statusesOf(...guesses.map((body) => () => world.call(as, 'POST', '/key/checkout', body, headers)));
  }

  it('refuses a token that guesses, and says when to come back', async ({ world }) => {
    expect(await guess(world, 100)).toEqual(Array(100).fill(404));
    const answer = await world.call('client', 'POST', '/key/checkout', unknown(1));
    expect(answer.body).toEqual(limited);
    expect(whatIsTold(answer)).toEqual(told('lookups', 100, [0, 60, 1]));
  });

  it('holds for every operation that names a key, found or not, and for no other', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId }) };
    await guess(world, 100, '198.51.100.9', 'admin');
    const statuses = [
      (await world.call('admin', 'GET', `/key?${new URLSearchParams(address)}`)).status,
      (await world.call('admin', 'POST', '/deactivate-key', address)).status,
      (await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'h' })).status,
      (await world.call('admin', 'POST', '/create-key', { productId })).status,
      (await world.call('admin', 'GET', '/customer')).status,
    ];
    expect(statuses).toEqual([429, 429, 429, 200, 200]);
  });

  it('leaves found keys, other addresses and other tokens alone', async () => {
    await using world = await createWorld({ behindProxy: [PEER] });
    const { id: productId } = await world.product();
    const query = new URLSearchParams({ productId, licenseKey: await world.key({ productId }) });
    const find = () => world.call('admin', 'GET', `/key?${query}`);
    expect(await statusesOf(...Array(150).fill(find))).toEqual(Array(150).fill(200));
    await guess(world, 100, '198.51.100.1');
    expect(await guess(world, 1, '198.51.100.1')).toEqual([429]);
    expect(await guess(world, 1, '198.51.100.2')).toEqual([404]);
    expect(await guess(world, 1, '198.51.100.1', 'admin')).toEqual([404]);
  });

  it('slows down to the rate, and does not count the copies of a stored refusal', async () => {
    await using world = await createWorld({ monotonic });
    const again = () => world.call('client', 'POST', '/key/checkout', unknown(1), { 'Idempotency-Key': 'one' });
    expect(await statusesOf(...Array(150).fill(again))).toEqual(Array(150).fill(404));
    await guess(world, 99);
    expect(await guess(world, 1)).toEqual([429]);
    milliseconds = 600;
    expect(await guess(world, 2)).toEqual([404, 429]);
  });
});
