import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, type Surroundings, tempFolder } from './fake-io.ts';
import { PRODUCT, refusal, remote, scriptedService } from './scripted-service.ts';

/** A database of its own with one product, and commands that run on it. */
async function shop() {
  const cwd = tempFolder();
  const env: Record<string, string> = { LKM_DB: 'lkm.db', NO_COLOR: '1' };
  const at = (argv: string[], more: Surroundings = {}) => lkm(argv, { cwd, ...more, env: { ...env, ...more.env } });
  const answer = async (...argv: string[]) => (await at(argv)).stdout.trimEnd();
  env.LKM_PRODUCT = await answer('products', 'create', '--name', 'Engine Pro', '-q', '--create');
  return { cwd, at, answer, product: env.LKM_PRODUCT };
}

describe('a licence key', () => {
  it('is issued, looked up, signed, verified and freed on a file', async () => {
    const { cwd, at, answer, product } = await shop();
    const customer = await answer('customers', 'create', '--name', 'Ada Ltd', '--email', 'it@ada.example', '-q');
    const key = await answer('keys', 'create', '--customer', customer, '--max-activations', '2', '--expires', '1y');
    expect(key).toMatch(/^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/);

    expect((await at(['keys', 'sign', key, '--host-id', 'build-01', '-o', 'a.lic'])).stderr).toBe(
      'wrote a.lic · for build-01\n',
    );
    expect(statSync(join(cwd, 'a.lic')).mode & 0o777).toBe(0o600);
    expect(await at(['keys', 'verify', 'a.lic', '--host-id', 'build-01', '-q'])).toEqual({
      code: 0,
      stdout: 'ok\n',
      stderr: '',
    });
    expect(await at(['keys', 'verify', 'a.lic', '--host-id', 'laptop-9', '-q'])).toEqual({
      code: 5,
      stdout: 'machine_mismatch\n',
      stderr: '',
    });

    const { stdout } = await at(['keys', 'get', key], { terminal: true });
    expect(stdout.split('\n')).toEqual([
      `key          ${key}`,
      'status       active',
      `product      ${product}`,
      'activations  1 of 2',
      'expires      2027-11-21 23:59 UTC (in 12 months)',
      'type         node-locked',
      'customer     Ada Ltd <it@ada.example>',
      `customer id  ${customer}`,
      'reference    –',
      'features     –',
      'metadata     –',
      'created      just now',
      '',
      'HOST ID   TAG     IP ADDRESS  ACTIVATED',
      'build-01  No tag  127.0.0.1   just now',
      '',
      'LICENCE FILE                    FOR       SIGNED    ENDS          REVOKED',
      expect.stringMatching(/^fil_[0-9a-z]{26} {2}build-01 {2}just now {2}in 12 months {2}no$/),
      '',
    ]);

    expect((await at(['keys', 'deactivate', key, '--host-id', 'build-01'])).stderr).toBe(
      'freed build-01\n' +
        'warning: a licence file for build-01 still counts until its end: 2027-11-21 23:59 UTC (in 12 months)\n' +
        'only software that reads the list of lkm revocations export refuses it\n',
    );
    expect(await answer('keys', 'get', key, '--fields', 'activations,maxActivations')).toBe('0\t2');
  });

  it('is looked up as the service names things with --json', async () => {
    const { answer } = await shop();
    const key = await answer('keys', 'create', '--trial', '--feature', 'export', '--feature', 'cores=8');
    const lookup = JSON.parse(await answer('keys', 'get', key, '--json'));
    expect(Object.keys(lookup)).toEqual(['license', 'customer', 'files']);
    expect(lookup.license.metadata).toEqual({ features: { export: true, cores: 8 }, is_trial: true });
  });

  it('keeps free metadata, as text, beside its features', async () => {
    const { at, answer } = await shop();
    const metadata = ['--metadata', 'orderNumber=1042', '--metadata', 'note=paid=yes', '--metadata', 'plan='];
    const key = await answer('keys', 'create', ...metadata, '--feature', 'cores=8');
    expect(JSON.parse(await answer('keys', 'get', key, '--json')).license.metadata).toEqual({
      features: { cores: 8 },
      is_trial: false,
      orderNumber: '1042',
      note: 'paid=yes',
      plan: '',
    });
    const { stdout } = await at(['keys', 'get', key], { terminal: true });
    expect(stdout).toContain('features     cores=8\nmetadata     orderNumber=1042, note=paid=yes, plan=\n');
    expect(await answer('keys', 'get', key, '--fields', 'metadata')).toBe(
      '{"features":{"cores":8},"is_trial":false,"orderNumber":"1042","note":"paid=yes","plan":""}',
    );
  });

  it('is one row of values in a pipe', async () => {
    const { answer, product } = await shop();
    const key = await answer('keys', 'create', '--expires', 'never');
    const row = [key, 'unused', product, '0', '', '', 'node-locked', '', '2026-11-21T12:00:00.000Z'];
    expect(await answer('keys', 'get', key)).toBe(row.join('\t'));
  });

  it('can be read from stdin or a file, out of sight of the process list', async () => {
    const { cwd, at, answer } = await shop();
    const key = await answer('keys', 'create');
    writeFileSync(join(cwd, 'key.txt'), `${key}\n`);
    expect((await at(['keys', 'get', '-', '-q'], { stdin: `${key}\n` })).stdout).toBe(`${key}\n`);
    expect((await at(['keys', 'get', '@key.txt', '-q'])).stdout).toBe(`${key}\n`);
    expect((await at(['keys', 'get', key.toLowerCase(), '-q'])).stdout).toBe(`${key}\n`);
  });

  it('is found with the separators that a mail or a text program made of its dashes', async () => {
    const { answer } = await shop();
    const key = await answer('keys', 'create');
    for (const separator of ['', ' ', '\u2013', ' - ', '\u2011', '\u00ad-', '\u00a0']) {
      expect(await answer('keys', 'get', key.replaceAll('-', separator), '-q')).toBe(key);
    }
  });

  it.each([
    ['a wrong check character', 'AAAAAAAAAAAAAAAAAAAAAAAAB'],
    ['another length', 'ACME-2019-0042-F3D9-77AB-10CE'],
    ['a letter that our keys do not have', 'UUUUUUUUUUUUUUUUUUUUUUUUU'],
  ])('of another format, with %s, is sent as it is', async (_, key) => {
    const { fetch, seen } = scriptedService(refusal(404, 1, 'License not found'));
    await lkm(['keys', 'get', key, '-P', PRODUCT], { fetch, env: remote });
    expect(seen[0]?.path).toBe(`/key?productId=${PRODUCT}&licenseKey=${key}`);
  });

  it('given to keys verify in place of a file is not repeated, and the commands for it are named', async () => {
    const key = '00000-00000-00000-00000-00000';
    const { code, stderr } = await lkm(['keys', 'verify', key]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('lkm keys get KEY') });
    expect(stderr).not.toContain(key);
  });

  it('is sent exactly as it is given without the check, on the command line or in the environment', async () => {
    const typo = ' aaaaa-AAAAA-AAAAA-AAAAA-AAAAB';
    const asked = async (argv: string[], env: Record<string, string> = {}) => {
      const { fetch, seen } = scriptedService(refusal(404, 1, 'License not found'));
      const ran = await lkm(['keys', 'get', typo, '-P', PRODUCT, ...argv], { fetch, env: { ...remote, ...env } });
      return { ...ran, paths: seen.map(({ path }) => path) };
    };
    const path = `/key?${new URLSearchParams({ productId: PRODUCT, licenseKey: typo })}`;
    expect(await asked(['--no-key-check'])).toMatchObject({ code: 6, paths: [path] });
    expect(await asked([], { LKM_KEY_CHECK: 'off' })).toMatchObject({ code: 6, paths: [path] });
    for (const env of [{}, { LKM_KEY_CHECK: 'on' }, { LKM_KEY_CHECK: '' }]) {
      const checked = await asked([], env);
      expect(checked).toMatchObject({ code: 2, paths: [] });
      expect(checked.stderr).toContain('  A key of another service:  --no-key-check sends it as it is\n');
    }
    expect((await asked([], { LKM_KEY_CHECK: 'never' })).stderr).toContain("LKM_KEY_CHECK: 'never' is not one of");
  });

  it('is marked where a read-only token sees it masked', async () => {
    const { cwd, at, answer } = await shop();
    const key = await answer('keys', 'create');
    writeFileSync(join(cwd, 'token'), await answer('tokens', 'create', '--kind', 'read-only', '--name', 'ro', '-q'), {
      mode: 0o600,
    });
    const { stdout } = await at(['keys', 'get', key, '--token-file', 'token'], { terminal: true });
    expect(stdout.split('\n')[0]).toBe(
      `key          *****-*****-*****-*****-${key.slice(-5)} (masked: the token lacks license:reveal)`,
    );
  });

  it('leases sessions when it is floating', async () => {
    const { answer, at } = await shop();
    const key = await answer('keys', 'create', '--type', 'floating', '--max-sessions', '1');
    const session = JSON.parse(await answer('keys', 'checkout', key, '--user', 'ada', '--json'));
    expect(session).toMatchObject({ currentSessions: 1, maxSessions: 1, heartbeatInterval: 300 });
    const shown = await at(['keys', 'get', key], { terminal: true });
    expect(shown.stdout).toMatch(/^type +floating, 1 of 1 sessions$/m);
    expect(shown.stdout).toContain(session.sessionId);
    const { code, stderr } = await at(['keys', 'checkout', key]);
    expect(code).toBe(5);
    expect(stderr).toContain('error: session limit reached\n');
  });

  it('gets no sessions while it is not floating, and the error says how it would', async () => {
    const { answer, at } = await shop();
    const { code, stderr } = await at(['keys', 'update', await answer('keys', 'create'), '--max-sessions', '2']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'Missing, or with a value that the service does not take: maxConcurrentSessions. ' +
        'Only a floating key has sessions: --type floating makes it one.\n',
    );
  });

  it('needs --ttl to be signed when it never expires, and the error says so', async () => {
    const { at, answer } = await shop();
    const key = await answer('keys', 'create', '--expires', 'never');
    const { code, stderr } = await at(['keys', 'sign', key, '--host-id', 'h1']);
    expect(code).toBe(2);
    expect(stderr).toContain('keys sign --ttl 30d');
    expect((await at(['keys', 'sign', key, '--host-id', 'h1', '--ttl', '30d'])).code).toBe(0);
  });
});

describe('a signed file', () => {
  const sign = async (argv: string[], surroundings: Surroundings = {}) => {
    const { cwd, at, answer } = await shop();
    const key = await answer('keys', 'create', '--max-activations', '1');
    writeFileSync(join(cwd, 'taken.lic'), 'mine');
    const ran = await at(['keys', 'sign', key, '--host-id', 'h1', ...argv], surroundings);
    const used = await answer('keys', 'get', key, '--fields', 'activations');
    return { ...ran, used, cwd, key };
  };

  it('never replaces a file: that is found before a slot is taken', async () => {
    const { code, stderr, used, cwd } = await sign(['-o', 'taken.lic']);
    expect({ code, used }).toEqual({ code: 13, used: '0' });
    expect(stderr).toContain('error: taken.lic exists\n');
    expect(readFileSync(join(cwd, 'taken.lic'), 'utf8')).toBe('mine');
  });

  it('replaces a file with --force', async () => {
    const { code, cwd } = await sign(['-o', 'taken.lic', '--force']);
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(join(cwd, 'taken.lic'), 'utf8'))).toMatchObject({ format: 'lkm-lic/1' });
  });

  it('is not sent for where its folder is missing', async () => {
    expect(await sign(['-o', 'no/such/folder.lic'])).toMatchObject({ code: 13, used: '0' });
  });

  it.each([
    ['in a pipe', [], {}],
    ['with -o -', ['-o', '-'], { terminal: true }],
  ] as const)('goes to stdout %s', async (_, argv, surroundings) => {
    const { code, stdout } = await sign([...argv], surroundings);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ format: 'lkm-lic/1' });
  });

  it('is not spilled on a terminal', async () => {
    const { code, stdout, stderr, used } = await sign([], { terminal: true });
    expect({ code, stdout, used }).toEqual({ code: 2, stdout: '', used: '0' });
    expect(stderr).toContain('a licence file belongs in a file');
  });

  it('is described with --json, beside the file', async () => {
    const { stdout, cwd } = await sign(['-o', 'a.lic', '--ttl', '1d', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ path: 'a.lic', hostId: 'h1', ttl: 86_400 });
    expect(JSON.parse(readFileSync(join(cwd, 'a.lic'), 'utf8'))).toMatchObject({ format: 'lkm-lic/1' });
  });

  it('can be asked for again when it could not be written', async () => {
    const { code, stderr, used } = await sign(['-o', '/dev/full']);
    expect({ code, used }).toEqual({ code: 13, used: '1' });
    expect(stderr).toContain('cannot write /dev/full (ENOSPC)\n  The service did its part.');
    expect(stderr).toMatch(/\n {4}lkm keys sign KEY --host-id h1 -o \S+ --idempotency-key [0-9a-f-]+\n$/);
  });

  it('is verified against keys in a file, without any service', async () => {
    const { cwd, key } = await sign(['-o', 'a.lic']);
    const instance = await import('../../src/server/runtime.ts');
    const { fetch, close } = await instance.openInstance({ db: join(cwd, 'lkm.db') });
    const jwks = await (await fetch(new Request('http://127.0.0.1/.well-known/jwks.json'))).text();
    await close();
    writeFileSync(join(cwd, 'jwks.json'), jwks);
    const { code, stdout } = await lkm(['keys', 'verify', 'a.lic', '--jwks', 'jwks.json', '--json'], { cwd });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'ok',
      claims: { key, machine: 'h1' },
      revocations: null,
    });
  });

  it('that is not ok is explained, with what to do', async () => {
    const { cwd, key } = await sign(['-o', 'a.lic']);
    const at = (argv: string[]) =>
      lkm(['keys', 'verify', 'a.lic', '--db', 'lkm.db', ...argv], { cwd, env: { LKM_PRODUCT: '' } });
    expect(await at([])).toMatchObject({
      code: 0,
      stdout: 'ok\n',
      stderr: expect.stringMatching(/^for h1 · ends .*\n$/),
    });
    expect((await at(['--host-id', 'h2'])).stderr).toContain('it is for another device than --host-id');
    expect((await at(['-P', PRODUCT])).stderr).toContain('it is for another product than --product');
    await lkm(['products', 'create', '--name', 'n', '--db', 'other.db', '--create'], { cwd });
    const foreign = await lkm(['keys', 'verify', 'a.lic', '--db', 'other.db'], { cwd });
    expect(foreign).toMatchObject({ code: 5, stdout: 'unknown_kid\n' });
    expect(foreign.stderr).toBe(
      'no public key given here has signed it: use the keys of the service that signed it (--jwks, --base-url)\n',
    );
    const { kid } = JSON.parse(
      Buffer.from(
        String(JSON.parse(readFileSync(join(cwd, 'a.lic'), 'utf8')).licenseToken).split('.')[0] ?? '',
        'base64url',
      ).toString(),
    );
    const bad = { keys: [{ kty: 'OKP', crv: 'Ed25519', kid, alg: 'EdDSA', use: 'sig', x: 'AAAA' }] };
    writeFileSync(join(cwd, 'bad.json'), JSON.stringify(bad));
    const ran = await lkm(['keys', 'verify', 'a.lic', '--jwks', 'bad.json'], { cwd });
    expect(ran.code).toBe(13);
    expect(ran.stderr).not.toContain('bug');
    expect(key).not.toBe('');
  });

  it('that is none gets a verdict too', async () => {
    const { cwd, at } = await shop();
    writeFileSync(join(cwd, 'junk'), 'not a licence file');
    expect(await at(['keys', 'verify', 'junk'])).toMatchObject({ code: 5, stdout: 'token_malformed\n' });
    writeFileSync(join(cwd, 'jwks.json'), '{"keys":1}');
    expect(await at(['keys', 'verify', 'junk', '--jwks', 'jwks.json'])).toMatchObject({ code: 13 });
  });
});

describe('--output', () => {
  it('keeps a new key for its owner only', async () => {
    const { cwd, at } = await shop();
    expect((await at(['keys', 'create', '-o', 'key.txt', '-q'])).stdout).toBe('');
    expect(statSync(join(cwd, 'key.txt')).mode & 0o777).toBe(0o600);
  });
});
