import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Fetch } from '../../src/contract/endpoint.ts';
import { apiVersion } from '../../src/contract/index.ts';
import { selfSigned } from '../support/certificates.ts';
import { lkm, NOW, type Surroundings, tempFolder } from './fake-io.ts';
import { PRODUCT, remote } from './scripted-service.ts';
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
  expect({ ok, code }).toEqual(ok ? { ok, code: 0 } : { ok, code: 13 });
  const found = Object.fromEntries(checks.map(({ check, ...rest }) => [check, rest]));
  return { ok, found, stderr, stdout };
}

const token = {
  ...{ id: 'tok_1', name: 'me', kind: 'admin', scopes: ['license:read'], productIds: null, maxIssues: null },
  ...{ issued: null, expiresAt: null, revokedAt: null, createdAt: '2026-01-01T00:00:00.000Z' },
};
const self = (data: object) => () => Response.json({ action: 'tokens.self', status: true, data, code: 0 });

/** A service whose answers a test changes one by one. */
function service(changed: Readonly<Record<string, () => Response>> = {}, date = NOW): Fetch {
  const answers: Readonly<Record<string, () => Response>> = {
    '/health': () => Response.json({ status: 'ok' }, { headers: { date: new Date(date).toUTCString() } }),
    '/ready': () => Response.json({ status: 'ready' }),
    '/openapi.json': () => Response.json({ openapi: '3.1.1', info: { version: apiVersion } }),
    '/token/self': self(token),
    ...changed,
  };
  return async (request) => answers[new URL(request.url).pathname]?.() ?? new Response('', { status: 404 });
}

const contractOf = (version: string) => () => Response.json({ info: { version } });
const refusal =
  (status: number, headers = {}) =>
  () =>
    Response.json({ message: 'No', code: 1 }, { status, headers });

describe('lkm doctor', () => {
  it('finds nothing wrong with a service that works', async () => {
    const { ok, found, stderr } = await doctor({ env: remote, fetch: service() });
    expect({ ok, stderr }).toEqual({ ok: true, stderr: '' });
    expect(Object.entries(found).map(([name, { status }]) => `${name} ${status}`)).toEqual([
      ...['lkm ok', 'state ok', 'target ok', 'address ok', 'clock ok', 'database ok', 'contract ok'],
      ...['idempotency ok', 'token ok'],
    ]);
    expect(found.token?.detail).toBe('from LKM_TOKEN: me, admin, may do everything, never expires');
  });

  it('names the changes without a response, and not what they are about', async () => {
    const cwd = tempFolder();
    const failing = {
      cwd,
      env: remote,
      fetch: service({ '/create-key': refusal(500), '/customer/by-id': refusal(500) }),
    };
    for (const line of [`keys create -P ${PRODUCT}`, 'customers delete cus_1 --yes']) {
      expect((await lkm([...line.split(' '), '--max-retries', '0'], failing)).code).not.toBe(0);
    }
    const { ok, found } = await doctor({ cwd, env: remote, fetch: service() });
    expect({ ok, status: found.state?.status }).toEqual({ ok: true, status: 'warn' });
    expect(found.state?.detail).toContain('POST /create-key of 2026-11-21 12:00 UTC');
    expect(found.state?.detail).toContain('DELETE /customer/by-id of 2026-11-21 12:00 UTC');
    expect(found.state?.detail).not.toContain('cus_1');
  });

  it('is a line for each check on a terminal, with what to do below', async () => {
    const { stdout, stderr, code } = await lkm(['doctor'], { terminal: true, env: { TERM: 'dumb' } });
    expect(code).toBe(13);
    expect(stdout).toMatch(/^ok {4}lkm {5}0\.0\.0-dev on Node\.js 24\.15\.0, linux\n/);
    expect(stdout).toMatch(
      /\nfail {2}target {2}there is no service to talk to\n {14}Log in: lkm login --base-url URL\n$/,
    );
    expect(stderr).toBe('warning: 1 check failed\n');
  });

  it('breaks no word where a line is too narrow', async () => {
    const long = { ...token, name: 'a token with a name of so many words that it fills a line of its own' };
    const surroundings = {
      terminal: true,
      columns: 80,
      env: { ...remote, NO_COLOR: '1' },
      fetch: service({ '/token/self': self(long) }),
    };
    const { stdout } = await lkm(['doctor'], surroundings);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.slice(-2).join(' ')).toMatch(/, admin, may do everything, never {20}expires$/);
  });

  it.each([
    ['none', 'fail', 'the key of a change does not reach the service'],
    ['09f662f3768c', 'ok', 'the key of a change reaches the service'],
  ])(
    'knows from %s whether something on the way drops the header of idempotency keys',
    async (seen, status, detail) => {
      const answers = { '/product': refusal(401, { 'LKM-Idempotency-Key': seen }) };
      const { found } = await doctor({ env: remote, fetch: service(answers) });
      expect(found.idempotency).toMatchObject({ status, detail });
    },
  );

  it('holds no secret', async () => {
    const env = { ...remote, HTTPS_PROXY: 'http://me:canary@proxy.example:3128' };
    const { stdout, found } = await doctor({ env, fetch: service() });
    expect(found.address?.detail).toMatch(/, through the proxy http:\/\/proxy\.example:3128$/);
    expect(stdout).not.toMatch(/canary|lkm_admin_secret/);
  });

  const html = () => new Response('<html>ok</html>', { headers: { 'content-type': 'text/html' } });
  const tooMany = refusal(429, { 'retry-after': '900' });
  const ending = self({ ...token, expiresAt: new Date(NOW + 3 * 86_400_000).toISOString() });
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });
  it.each<[what: string, fetch: Fetch, found: string, detail: RegExp, advice: RegExp]>([
    ['a clock that is behind', service({}, NOW + 3_600_000), 'clock warn', /^1h behind/, /Set the clock/],
    ['a clock that is ahead', service({}, NOW - 120_000), 'clock warn', /^2m ahead of/, /Set the clock/],
    ['another program', service({ '/health': html }), 'address fail', /which is not how lkm answers/, /the address/],
    [
      'a host that the server does not know',
      service({ '/health': refusal(421) }),
      'address fail',
      /421: No$/,
      /--behind-proxy/,
    ],
    ['no program', () => Promise.reject(refused), 'address fail', /nothing listens there/, /service running/],
    ['a database that is down', service({ '/ready': refusal(503) }), 'database fail', /answers 503/, /log/],
    ['a newer service', service({ '/openapi.json': contractOf('2099-01-01') }), 'contract warn', /2099/, /Update lkm/],
    [
      'an older service',
      service({ '/openapi.json': contractOf('2020-01-01') }),
      'contract warn',
      /2020/,
      /the service/,
    ],
    ['an unknown token', service({ '/token/self': refusal(401) }), 'token fail', /token from LKM_TOKEN$/, /another/],
    [
      'a page for a token',
      service({ '/token/self': html }),
      'token fail',
      /not JSON/,
      /no lkm service .* is https:\S+ the address of/,
    ],
    ['a busy token', service({ '/token/self': tooMany }), 'token fail', /./, /wait 15m: try again after 12:15:00 UTC/],
    ['a token that ends soon', service({ '/token/self': ending }), 'token warn', /in 3 days/, /lkm tokens create/],
  ])('finds %s', async (_, fetch, expected, detail, advice) => {
    const { ok, found } = await doctor({ env: remote, fetch });
    const [check = '', status] = expected.split(' ');
    const [is, does] = [expect.stringMatching(detail), expect.stringMatching(advice)];
    expect(found[check]).toEqual({ status, detail: is, advice: does });
    expect(ok).toBe(status === 'warn');
  });

  it('finds a missing token and plain http, and goes no further where nothing answers', async () => {
    const { found } = await doctor({ env: { LKM_BASE_URL: remote.LKM_BASE_URL }, fetch: service() });
    expect(found.token).toMatchObject({ status: 'fail', detail: expect.stringMatching(/^there is no token for/) });
    const plain = await doctor({ env: { LKM_BASE_URL: 'http://licensing.example.com' } });
    expect(plain.found.address).toMatchObject({ status: 'fail', detail: expect.stringContaining('https://') });
    expect(plain.found.token).toBeUndefined();
  });

  it('says that a certificate is not trusted, and what to do', async () => {
    const server = createServer(selfSigned);
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const { port } = server.address() as AddressInfo;
    const { found } = await doctor({ env: { LKM_BASE_URL: `https://127.0.0.1:${port}`, LKM_TOKEN: 'x' } });
    server.close();
    expect(found.address).toMatchObject({ status: 'fail', advice: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
  });

  it.each([
    ['https://lkm.example', 'foo.example lkm.example', true],
    ['https://lkm.example', 'lkm.example:80', false],
  ])('knows whether %s is passed by with NO_PROXY=%j', async (url, noProxy, isPassedBy) => {
    const env = { LKM_TOKEN: 'x', LKM_BASE_URL: url, https_proxy: 'http://127.0.0.1:9', NO_PROXY: noProxy };
    const { address } = (await doctor({ env, fetch: service() })).found;
    expect(address?.detail).toMatch(isPassedBy ? /answered within \d+ ms$/ : /, through the proxy http:\/\/127/);
  });

  it('says that the address of the proxy cannot be read', async () => {
    const { found } = await doctor({ env: { ...remote, https_proxy: 'ftp://proxy' }, fetch: service() });
    expect(found.address).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('proxy in the environment'),
    });
  });

  it('checks a server of this machine, and a database', async () => {
    const cwd = tempFolder();
    const { stop } = await started(['--db', 'lkm.db'], { cwd });
    const served = await doctor({ cwd, env: { HTTPS_PROXY: 'http://p:1', http_proxy: 'http://p:1' } }, '-p', 'local');
    const inUse = await doctor({ cwd }, '--db', 'lkm.db');
    await stop();
    expect(served.ok).toBe(true);
    expect(served.found.address?.detail).toMatch(/^127\.0\.0\.1:\d+ answered within \d+ ms$/);
    expect(inUse.found.database?.detail).toMatch(/is served by process \d+ at http:/);
    const opened = await doctor({ cwd, env: { LKM_TOKEN: 'x' } }, '--db', 'lkm.db');
    const statuses = Object.entries(opened.found).map(([name, { status }]) => `${name} ${status}`);
    expect(statuses.slice(3)).toEqual(['database ok', 'token warn']);
    const missing = await doctor({ cwd }, '--db', 'none.db');
    expect(missing.found.database).toMatchObject({ status: 'fail', detail: expect.stringContaining('does not exist') });
  });

  it('finds a master key that does not open a database', async () => {
    const cwd = tempFolder();
    const sealedUnder = (byte: number) => ({ LKM_MASTER_KEY: Buffer.alloc(32, byte).toString('base64') });
    await lkm(['products', 'create', '--name', 'x', '--db', 'lkm.db', '--create'], { cwd, env: sealedUnder(7) });
    const right = await doctor({ cwd, env: sealedUnder(7) }, '--db', 'lkm.db');
    expect(right.found.database).toMatchObject({ status: 'ok', detail: expect.stringMatching(/its secrets sealed$/) });
    expect((await doctor({ cwd, env: sealedUnder(8) }, '--db', 'lkm.db')).found.database?.status).toBe('fail');
  });

  it('fails where a webhook is disabled, and says how it goes on', async () => {
    const cwd = tempFolder();
    const at = (line: string) => lkm(line.split(' '), { cwd, env: { LKM_DB: 'lkm.db' } });
    await at('products create --name x --create');
    expect((await at('webhooks create --url https://shop.example.com/hook')).code).toBe(0);
    expect((await doctor({ cwd }, '--db', 'lkm.db')).found.webhooks).toBeUndefined();
    const database = new DatabaseSync(join(cwd, 'lkm.db'));
    database.exec("update webhooks set active = 0, disabled_at = '2026-11-20T00:00:00.000Z', disabled_reason = 'gone'");
    database.close();
    const { found } = await doctor({ cwd }, '--db', 'lkm.db');
    expect(found.webhooks).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/^disabled: whk_\w+ \(\d+ events? wait/),
      advice: expect.stringContaining('lkm webhooks update ID --active'),
    });
  });
});
