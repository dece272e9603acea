import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, NOW, type Surroundings } from './fake-io.ts';
import { brokenBy } from './scripted-service.ts';
import { openShop } from './shop.ts';

/** A shop with a licence file `a.lic` for the device `h1`, and its public keys. */
async function signed() {
  const shop = await openShop();
  const { cwd, names, at, answer } = shop;
  names.KEY = await answer('keys create --expires 1y');
  await answer('keys sign KEY --host-id h1 -o a.lic');
  const exported = await at('signing-keys export -o jwks.json');
  /** Without a service, a database or a product. */
  const verify = async (options: string) => {
    const { code, stdout } = await lkm(`keys verify --host-id h1 --jwks jwks.json ${options} -q`.split(' '), { cwd });
    return [code, stdout];
  };
  const read = (name: string) => readFileSync(join(cwd, name), 'utf8');
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  return { ...shop, exported, verify, read, write };
}

const nowSeconds = NOW / 1_000;

describe('signing keys', () => {
  it('are listed, rotated and exported, and files of both verify from then on', async () => {
    const { at, answer, json, exported, verify, read } = await signed();
    const [first] = await json('signing-keys list');
    expect(first).toMatchObject({ current: true, jwk: { kid: first.kid } });
    expect(exported).toEqual({ code: 0, stdout: '', stderr: 'wrote jwks.json · 1 public key\n' });
    expect(await at('signing-keys rotate')).toMatchObject({ code: 3, stdout: '' });
    const rotated = await answer('signing-keys rotate --yes');
    await answer('keys sign KEY --host-id h1 -o b.lic');
    expect(JSON.parse(read('b.lic')).keyId).toBe(rotated);
    expect([await verify('a.lic'), await verify('b.lic')]).toEqual([
      [0, 'ok\n'],
      [5, 'unknown_kid\n'],
    ]);
    await answer('signing-keys export -o new.json');
    expect(JSON.parse(read('new.json')).keys.map(({ kid }: { kid: string }) => kid)).toEqual([rotated, first.kid]);
    for (const file of ['a.lic', 'b.lic']) expect(await verify(`${file} --jwks new.json`)).toEqual([0, 'ok\n']);
    // As PEM, each below its id, and never their private halves.
    expect(await answer('signing-keys export --as pem')).toMatch(
      /^(kid [\w-]{43}\n-----BEGIN PUBLIC KEY-----\n[\w+/=]{60}\n-----END PUBLIC KEY-----\n?\n?){2}$/,
    );
  });
});

it('keys verify --revocations refuses a file whose device was freed, and a list that is none', async () => {
  const { at, answer, verify, write } = await signed();
  await answer('revocations export -o before.jwt');
  await answer('keys deactivate KEY --host-id h1');
  expect((await at('revocations export -o after.jwt')).stderr).toBe('wrote after.jwt\n');
  write('bad.jwt', '{"files":[]}');
  for (const [list, code, stdout] of [
    ['before.jwt', 0, 'ok\n'],
    ['after.jwt', 5, 'revoked\n'],
    ['bad.jwt', 5, 'revocations_invalid\n'],
    ['none.jwt', 13, ''],
  ]) {
    expect(await verify(`a.lic --revocations ${list}`)).toEqual([code, stdout]);
  }
});

it('keys verify --watermark keeps the latest time, finds a clock that was set back, and leaves another file', async () => {
  const { verify, read, write } = await signed();
  for (const [before, after, code, stdout] of [
    [null, `${nowSeconds}\n`, 0, 'ok\n'],
    [`${nowSeconds + 86_400}\n`, `${nowSeconds + 86_400}\n`, 5, 'clock_rolled_back\n'],
    ['yesterday', 'yesterday', 13, ''],
  ] as const) {
    if (before !== null) write('seen', before);
    expect(await verify('a.lic --watermark seen')).toEqual([code, stdout]);
    expect(read('seen')).toBe(after);
  }
});

it('keys verify names the watermark that is ahead of the clock, with its time, and how to begin anew', async () => {
  const { at, write } = await signed();
  write('seen', `${nowSeconds + 86_400}\n`);
  const { stderr } = await at('keys verify a.lic --jwks jwks.json --watermark seen');
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
    'seen holds 2026-11-22T12:00:00.000Z, the latest time seen here. If that was wrong, remove the file.',
  );
});

describe('keys verify asks the service, and', () => {
  const away = () => Promise.reject(brokenBy('ECONNREFUSED', 'connect'));
  const LATER = NOW + 86_400_000;
  const file = '.local/state/lkm/keys-https%3A%2F%2Flicensing.example.com.json';

  /** The same as a service elsewhere; `--fields` shows what a program is told. */
  async function published() {
    const shop = await signed();
    const { cwd, answer, read } = shop;
    const publish = () => answer('revocations export -o revocations.jwt --force');
    await publish();
    const service = async ({ url }: Request) =>
      url.endsWith('/revocations')
        ? new Response(read('revocations.jwt'), { headers: { 'content-type': 'application/jwt' } })
        : Response.json(JSON.parse(read('jwks.json')));
    const ask = (fetch: Surroundings['fetch'], { env = {}, now = LATER }: Surroundings = {}, ...options: string[]) =>
      lkm(['keys', 'verify', 'a.lic', ...options], {
        ...{ cwd, fetch, now },
        env: { LKM_BASE_URL: 'https://licensing.example.com', ...env },
      });
    return { ...shop, publish, service, ask };
  }

  it('while it cannot be reached uses what it published last, and says from when that is', async () => {
    const { cwd, service, ask } = await published();
    const online = await ask(service, { now: NOW }, '--json');
    expect(JSON.parse(online.stdout)).toMatchObject({ verdict: 'ok', keysKeptAt: null });
    expect(online.stderr).toBe('');
    expect(statSync(join(cwd, file)).mode & 0o777).toBe(0o600);

    const offline = await ask(away);
    expect(offline).toMatchObject({ code: 0, stdout: 'ok\n' });
    expect(offline.stderr.split('\n')[0]).toBe(
      'warning: no answer from licensing.example.com; verified with its keys of 2026-11-21 12:00 UTC (1 day ago)',
    );
    const json = await ask(away, {}, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ verdict: 'ok', keysKeptAt: '2026-11-21T12:00:00.000Z' });
    expect(json.stderr).toContain('warning: no answer from licensing.example.com;');
  });

  it('refuses what its list revokes, also while it cannot be reached', async () => {
    const { answer, publish, service, ask } = await published();
    expect((await ask(service)).stdout).toBe('ok\n');
    await answer('keys deactivate KEY --host-id h1');
    await publish();
    expect((await ask(away)).stdout).toBe('ok\n');
    for (const fetch of [service, away]) expect(await ask(fetch)).toMatchObject({ code: 5, stdout: 'revoked\n' });
    // A list in a file goes before that of the service.
    expect((await ask(service, {}, '--revocations', 'jwks.json')).stdout).toBe('revocations_invalid\n');
  });

  it.each<[title: string, fetch: Surroundings['fetch'], code: number]>([
    ['an error', async () => Response.json({ message: 'Internal error', code: 1 }, { status: 500 }), 10],
    ['a page of a proxy', async () => new Response('<html>', { status: 503 }), 10],
    ['another certificate', () => Promise.reject(brokenBy('DEPTH_ZERO_SELF_SIGNED_CERT')), 11],
  ])('lets %s stand', async (_, fetch, code) => {
    const { service, ask } = await published();
    await ask(service);
    expect(await ask(fetch)).toMatchObject({ code, stdout: '' });
  });

  it('uses nothing that is older than 30 days, of the future, or of another service', async () => {
    const { service, ask } = await published();
    await ask(service, { now: NOW });
    const end = NOW + 30 * 86_400_000;
    const other = { env: { LKM_BASE_URL: 'https://licensing.example.com/b' } };
    for (const [surroundings, code] of [
      [{ now: end - 1 }, 0],
      [{ now: end + 1 }, 11],
      [{ now: NOW - 1 }, 11],
      [other, 11],
    ] as const) {
      expect((await ask(away, surroundings)).code).toBe(code);
    }
  });

  it.each<[title: string, spoil: (path: string) => void]>([
    ['the folder', (path) => chmodSync(join(path, '..'), 0o777)],
    ['the file', (path) => chmodSync(path, 0o666)],
    ['what is no set of keys', (path) => writeFileSync(path, '{"at":"2026-11-22T12:00:00.000Z","keys":[]}')],
  ])('uses nothing that others may have written: %s', async (_, spoil) => {
    const { cwd, service, ask } = await published();
    await ask(service);
    spoil(join(cwd, file));
    expect((await ask(away)).code).toBe(11);
    expect((await ask(service)).code).toBe(0);
  });

  it('waits less for it where it can do without, and needs no state of its own', async () => {
    const { service, ask } = await published();
    let attempts = 0;
    const counted = () => {
      attempts += 1;
      return away();
    };
    const without = { env: { LKM_STATE_DIR: '/dev/null/lkm' } };
    expect((await ask(service, without)).code).toBe(0);
    expect((await ask(counted, without)).code).toBe(11);
    const patient = attempts;
    await ask(service);
    attempts = 0;
    expect((await ask(counted)).code).toBe(0);
    expect(patient).toBeGreaterThan(10 * attempts);
  });
});
