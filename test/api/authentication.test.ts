import { describe, expect } from 'vitest';
import { mutates } from '../../src/contract/endpoint.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { hashToken, mintToken } from '../../src/domain/token.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { ask, furnish } from '../support/requests.ts';
import { type Answer, createWorld, type World } from '../support/world.ts';

/** A test here makes many requests one after the other, which a busy machine takes long for. */
const MANY_REQUESTS_MS = 120_000;

const authenticated = listEndpoints().filter(({ endpoint }) => endpoint.scope !== 'public');

/** `Authorization` headers that let nobody in; undefined is none at all. */
async function badHeaders(world: World): Promise<Record<string, string | undefined>> {
  const good = await world.tokenOf('admin');
  const expired = await world.tokenOf({ kind: 'admin', expiresAt: '2026-11-21T10:00:00.000Z' });
  const revoked = await world.tokenOf({ kind: 'admin', maxIssues: 1 });
  await world.sql(`update tokens set revoked_at = '2026-11-21T09:00:00.000Z' where max_issues = 1`);
  const last = good?.endsWith('0') ? '1' : '0';
  return {
    missing: undefined,
    empty: '',
    'a scheme without a token': 'Bearer',
    'a token without a scheme': `${good}`,
    'another scheme': `Basic ${good}`,
    'two tokens': `Bearer ${good} ${good}`,
    'two tokens as a repeated header is joined': `Bearer ${good}, Bearer ${good}`,
    'a token of no known form': 'Bearer abc',
    'a token cut short': `Bearer ${good?.slice(0, -1)}`,
    'a token in upper case': `Bearer ${good?.toUpperCase()}`,
    'a wrong checksum': `Bearer ${good?.slice(0, -1)}${last}`,
    'an unknown token': `Bearer ${mintToken('admin', new Uint8Array(32))}`,
    'an expired token': `Bearer ${expired}`,
    'a revoked token': `Bearer ${revoked}`,
  };
}

/** All that a caller can see of an answer, but what differs from request to request. */
function whatIsSeen({ status, headers, text }: Answer) {
  const { 'x-request-id': _, ratelimit: __, ...same } = headers;
  return { status, headers: same, text };
}

const statusWith = async (world: World, Authorization = '') =>
  (await world.call('nobody', 'GET', '/customer', undefined, { Authorization })).status;

describe.each(engines)('authentication on $name', { timeout: MANY_REQUESTS_MS }, (engine) => {
  const it = testsOn(engine);

  it.each(authenticated)('$name answers every useless token with the same 401', async (named) => {
    await using world = await createWorld({ engine, failuresPerMinute: 60 });
    const own = await furnish(world);
    const headers = Object.entries(await badHeaders(world));
    const before = await world.contents();

    const seen = new Map<string, unknown>();
    for (const [defect, Authorization] of headers) {
      const header = Authorization === undefined ? undefined : { Authorization };
      seen.set(defect, whatIsSeen(await ask(world, 'nobody', named, own, header)));
    }

    const refused = {
      status: 401,
      headers: {
        'cache-control': 'no-store',
        'content-type': 'application/json',
        ...(mutates(named.endpoint) && { 'lkm-idempotency-key': 'none' }),
        'ratelimit-policy': '"failures";q=60;w=60',
        'www-authenticate': 'Bearer realm="lkm"',
        'x-content-type-options': 'nosniff',
      },
      text: '{"message":"Invalid access token","code":1}',
    };
    expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(headers.map(([defect]) => [defect, refused])));
    expect(await world.contents()).toEqual(before);
  });

  it('lets nobody in with a secret of another system that is easy to guess', async () => {
    await using world = await createWorld({ engine, failuresPerMinute: 60 });
    const own = mintToken('admin', new Uint8Array(32));
    const easy = [
      ...[
        'undefined',
        'null',
        'undefinedundefined',
        'Bearer-undefined',
        '[object%20Object]',
        'YOUR_ACCESS_TOKEN',
        '$LKM_TOKEN',
      ],
      ...[
        '<your-secret-token-here>',
        '{{ACCESS_TOKEN}}',
        'password12345678',
        '0123456789abcdef',
        'xxxxxxxxxxxxxxxxxxxx',
      ],
      ...[
        '00000000-0000-0000-0000-000000000000',
        'k7Qz9w2PfLmX4sT',
        `${own.slice(0, -1)}0`,
        own.toUpperCase(),
        own.slice(0, 40),
      ],
    ];
    const hard = [
      'k7Qz9w2PfLmX4sTb',
      '7a1f5e0c9b3d8264',
      '0b9c3f6e-52d7-4a18-8e4b-d1f7a6c0935e',
      'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
    ];
    const { id } = (await world.call('admin', 'GET', '/token/self')).body.data;
    const statuses = async (secrets: readonly string[]) => {
      const seen: unknown[] = [];
      for (const secret of secrets) {
        await world.sql(`update tokens set hash = '${hashToken(secret)}' where id = '${id}'`);
        // Reads of one turn share a snapshot.
        await new Promise(setImmediate);
        seen.push([secret, await statusWith(world, `Bearer ${secret}`)]);
      }
      return seen;
    };
    expect(await statuses(easy)).toEqual(easy.map((secret) => [secret, 401]));
    expect(await statuses(hard)).toEqual(hard.map((secret) => [secret, 200]));
  });

  it.for(authenticated)(
    '$name refuses a useless token before it looks at the request',
    async ({ endpoint }, { world }) => {
      const { status } = await world.send(`${endpoint.path}?a=1&a=2`, {
        method: endpoint.method,
        ...(endpoint.body ? { body: '{"broken', headers: { 'Content-Type': 'text/plain' } } : {}),
      });
      expect(status).toBe(401);
    },
  );

  it('refuses a mistyped token without asking the database', async ({ world }) => {
    const { 'a wrong checksum': mistyped, 'an unknown token': unknown } = await badHeaders(world);
    await world.breakTable('tokens');
    expect([await statusWith(world, mistyped), await statusWith(world, unknown)]).toEqual([401, 500]);
  });

  it('lets the scheme be written in any case', async ({ world }) => {
    expect(await statusWith(world, `bEARER ${await world.tokenOf('admin')}`)).toBe(200);
  });
});
