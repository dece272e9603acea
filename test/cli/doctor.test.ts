import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Fetch } from '../../src/contract/endpoint.ts';
import { apiVersion } from '../../src/contract/index.ts';
import { selfSigned } from '../client/self-signed.ts';
import { lkm, NOW, type Surroundings, tempFolder } from './fake-io.ts';
import { remote } from './scripted-service.ts';
import { started } from './started.ts';

interface Found {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
  readonly advice: string | null;
}

/** What the checks found, by their names. */
async function doctor(surroundings: Surroundings, ...argv: string[]) {
  const { code, stdout, stderr } = await lkm(['doctor', '--json', ...argv], surroundings);
  const { ok, checks }: { ok: boolean; checks: Found[] } = JSON.parse(stdout);
  const found = Object.fromEntries(checks.map(({ check, ...rest }) => [check, rest]));
  return { code, ok, found, stderr, stdout };
}

const token = {
  ...{ id: 'tok_1', name: 'me', kind: 'admin', scopes: ['license:read'], productIds: null, maxIssues: null },
  ...{ issued: null, expiresAt: null, revokedAt: null, createdAt: '2026-01-01T00:00:00.000Z' },
};

/** A service whose answers a test changes one by one. */
function service(changed: Readonly<Record<string, () => Response>> = {}, date = NOW): Fetch {
  const answers: Readonly<Record<string, () => Response>> = {
    '/health': () => Response.json({ status: 'ok' }, { headers: { date: new Date(date).toUTCString() } }),
    '/ready': () => Response.json({ status: 'ready' }),
    '/openapi.json': () => Response.json({ openapi: '3.1.1', info: { version: apiVersion } }),
    '/token/self': () => Response.json({ action: 'tokens.self', status: true, data: token, code: 0 }),
    ...changed,
  };
  return async (request) => answers[new URL(request.url).pathname]?.() ?? new Response('', { status: 404 });
}

describe('lkm doctor', () => {
  it('finds nothing wrong where nothing is', async () => {
    const { code, ok, found, stderr } = await doctor({ env: remote, fetch: service() });
    expect({ code, ok, stderr }).toEqual({ code: 0, ok: true, stderr: '' });
    expect(Object.values(found).map(({ status }) => status)).toEqual(Object.keys(found).map(() => 'ok'));
    expect(Object.keys(found)).toEqual([
      ...['lkm', 'config', 'state', 'service', 'proxy', 'network', 'clock', 'ready', 'contract', 'token'],
    ]);
    expect(found.token?.detail).toBe('from LKM_TOKEN: me, admin, may do everything, never expires');
  });

  it('is a line for each check on a terminal, with what to do below', async () => {
    const { stdout, stderr, code } = await lkm(['doctor'], { terminal: true, env: { TERM: 'dumb' } });
    expect(code).toBe(13);
    expect(stdout).toMatch(/^ok {4}lkm {6}0\.0\.0-dev on Node\.js 24\.15\.0, linux\n/);
    expect(stdout).toMatch(/\nfail {2}service {2}there is no service to talk to\n {15}See it work: lkm quickstart\n$/);
    expect(stderr).toBe('warning: 1 check failed\n');
  });

  it('holds no secret', async () => {
    const env = { ...remote, HTTPS_PROXY: 'http://me:canary@proxy.example:3128' };
    const { stdout, found } = await doctor({ env, fetch: service() });
    expect(found.proxy?.detail).toBe('http://proxy.example:3128, from the environment');
    expect(stdout).not.toMatch(/canary|lkm_admin_secret/);
  });

  it.each<[what: string, fetch: Fetch, check: string, status: string, detail: RegExp, advice: RegExp]>([
    ['a clock that is behind', service({}, NOW + 3_600_000), 'clock', 'warn', /^1h behind/, /Set the clock/],
    ['a clock that is ahead', service({}, NOW - 120_000), 'clock', 'warn', /^2m ahead of/, /Set the clock/],
    [
      'another program at the address',
      service({ '/health': () => new Response('<html>ok</html>') }),
      ...(['network', 'fail', /with 200, which is not how lkm answers/, /Is this the address/] as const),
    ],
    [
      'a service whose database is down',
      service({ '/ready': () => Response.json({ message: 'no', code: 1 }, { status: 503 }) }),
      ...(['ready', 'fail', /answers 503/, /log/] as const),
    ],
    [
      'a newer service',
      service({ '/openapi.json': () => Response.json({ info: { version: '2099-01-01' } }) }),
      ...(['contract', 'warn', /2099-01-01/, /Update lkm/] as const),
    ],
    [
      'an older service',
      service({ '/openapi.json': () => Response.json({ info: { version: '2020-01-01' } }) }),
      ...(['contract', 'warn', /2020-01-01/, /update the service/] as const),
    ],
    [
      'a token that the service does not know',
      service({ '/token/self': () => Response.json({ message: 'Invalid token', code: 1 }, { status: 401 }) }),
      ...([
        'token',
        'fail',
        /refused the token from LKM_TOKEN$/,
        /another service than https:\/\/licensing\./,
      ] as const),
    ],
    [
      'a page in place of what the token may do',
      service({ '/token/self': () => new Response('<html>', { headers: { 'content-type': 'text/html' } }) }),
      ...(['token', 'fail', /something that is not JSON/, /is https:\/\/licensing\.\S+ the address/] as const),
    ],
    [
      'a token that has asked too often',
      service({
        '/token/self': () =>
          Response.json({ message: 'Too many requests', code: 1 }, { status: 429, headers: { 'retry-after': '900' } }),
      }),
      ...(['token', 'fail', /^too many requests/, /wait 15m: try again after 12:15:00 UTC/] as const),
    ],
    [
      'a token that ends soon',
      service({
        '/token/self': () =>
          Response.json({
            ...{ action: 'tokens.self', status: true, code: 0 },
            data: { ...token, expiresAt: new Date(NOW + 3 * 86_400_000).toISOString() },
          }),
      }),
      ...(['token', 'warn', /in 3 days/, /lkm tokens create/] as const),
    ],
  ])('finds %s', async (_, fetch, check, status, detail, advice) => {
    const { code, ok, found } = await doctor({ env: remote, fetch });
    expect(found[check]).toEqual({
      status,
      detail: expect.stringMatching(detail),
      advice: expect.stringMatching(advice),
    });
    expect({ code, ok }).toEqual(status === 'fail' ? { code: 13, ok: false } : { code: 0, ok: true });
  });

  it('finds a service that does not answer, and goes no further', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
    const { code, found } = await doctor({ env: remote, fetch: () => Promise.reject(refused) });
    expect(code).toBe(13);
    expect(found.network).toEqual({
      status: 'fail',
      detail: 'cannot connect to licensing.example.com: nothing listens there (ECONNREFUSED)',
      advice: 'Is the service running, and is this its address?',
    });
    expect(found.token).toBeUndefined();
  });

  it('finds a missing token, plain http, and a configuration that others can read', async () => {
    const { found } = await doctor({ env: { LKM_BASE_URL: remote.LKM_BASE_URL }, fetch: service() });
    expect(found.token).toMatchObject({ status: 'fail', detail: expect.stringMatching(/^there is no token for/) });
    const plain = await doctor({ env: { LKM_BASE_URL: 'http://licensing.example.com' } });
    expect(plain.found.address).toMatchObject({ status: 'fail', detail: expect.stringContaining('https://') });
    const cwd = tempFolder();
    mkdirSync(join(cwd, 'config'));
    writeFileSync(join(cwd, 'config/config.json'), '{"version":1}');
    chmodSync(join(cwd, 'config/config.json'), 0o644);
    const open = await lkm(['doctor', '--json'], { cwd, env: { LKM_CONFIG_DIR: join(cwd, 'config') } });
    expect(open.code).toBe(13);
    expect(open.stdout + open.stderr).toMatch(/others can read/);
  });

  it('warns of a current profile that is not there', async () => {
    const cwd = tempFolder();
    mkdirSync(join(cwd, 'config'), { mode: 0o700 });
    const config = '{"version":1,"currentProfile":"gone","profiles":{}}';
    writeFileSync(join(cwd, 'config/config.json'), config, { mode: 0o600 });
    const { found } = await doctor({ cwd, env: { ...remote, LKM_CONFIG_DIR: join(cwd, 'config') }, fetch: service() });
    const detail = expect.stringContaining('0 profiles; the current one, gone, is not among them');
    expect(found.config).toMatchObject({ status: 'warn', detail });
  });

  it('looks at a certificate by itself', async () => {
    const server = createServer(selfSigned);
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const { port } = server.address() as AddressInfo;
    const env = { LKM_BASE_URL: `https://127.0.0.1:${port}`, LKM_TOKEN: 'x' };
    const { found } = await doctor({ env });
    server.close();
    expect(found.tls).toEqual({
      status: 'fail',
      detail: expect.stringMatching(/its certificate is not signed by an authority that this machine trusts$/),
      advice: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
  });

  it.each([
    ['https://lkm.example', 'foo.example lkm.example', true],
    ['https://lkm.example', 'foo.example,lkm.example', true],
    ['https://api.lkm.example', '.lkm.example', true],
    ['https://lkm.example', 'lkm.example:443', true],
    ['https://lkm.example', 'lkm.example:80', false],
    ['https://lkm.example', 'xlkm.example', false],
    ['https://lkm.example', '*', true],
  ])('knows whether %s is passed by with NO_PROXY=%j', async (url, noProxy, isPassedBy) => {
    const env = { LKM_TOKEN: 'x', LKM_BASE_URL: url, https_proxy: 'http://127.0.0.1:9', NO_PROXY: noProxy };
    const { proxy } = (await doctor({ env })).found;
    expect(proxy?.detail).toMatch(isPassedBy ? / is passed by, as NO_PROXY says$/ : /, from the environment$/);
  });

  it('checks a server of this machine, and a database', async () => {
    const cwd = tempFolder();
    const { stop } = await started(['--db', 'lkm.db'], { cwd });
    const served = await doctor({ cwd, env: { HTTPS_PROXY: 'http://p:1', http_proxy: 'http://p:1' } }, '-p', 'local');
    await stop();
    expect(served.ok).toBe(true);
    expect(served.found.tls?.detail).toBe('none: plain http stays on this machine');
    expect(served.found.proxy?.detail).toMatch(/is passed by: the service is on this machine$/);
    const opened = await doctor({ cwd, env: { LKM_TOKEN: 'x' } }, '--db', 'lkm.db');
    expect(opened.ok).toBe(true);
    expect(opened.found.database).toMatchObject({ status: 'ok', detail: expect.stringContaining('up to date') });
    expect(opened.found.token).toMatchObject({ status: 'warn' });
    const missing = await doctor({ cwd }, '--db', 'none.db');
    expect(missing.found.database).toMatchObject({ status: 'fail', detail: expect.stringContaining('does not exist') });
  });
});
