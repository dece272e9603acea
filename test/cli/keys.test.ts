import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, type Surroundings } from './fake-io.ts';
import { PRODUCT, refusal, remote, scriptedService } from './scripted-service.ts';
import { openShop } from './shop.ts';

const terminal = { terminal: true };

/** A shop with a key, which stands for `KEY`, of these terms. */
async function withKey(terms = '') {
  const shop = await openShop();
  const key = await shop.answer(`keys create ${terms}`.trim());
  shop.names.KEY = key;
  return { ...shop, key };
}

describe('a licence key', () => {
  it('is issued, looked up, signed, verified and freed on a file', async () => {
    const { cwd, names, at, answer, product } = await openShop();
    names.ADA = await answer('customers create --name Ada --email it@ada.example -q');
    const key = await answer('keys create --customer ADA --max-activations 2 --expires 1y');
    expect(key).toMatch(/^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/);
    names.KEY = key;
    expect((await at('keys sign KEY --host-id build-01 -o a.lic')).stderr).toBe('wrote a.lic · for build-01\n');
    expect(statSync(join(cwd, 'a.lic')).mode & 0o777).toBe(0o600);
    expect(await at('keys verify a.lic --host-id build-01 -q')).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });

    expect((await at('keys get KEY', terminal)).stdout.split('\n')).toEqual([
      `key          ${key}`,
      'status       active',
      `product      Engine (${product})`,
      'activations  1 of 2',
      'expires      2027-11-21 23:59 UTC (in 12 months)',
      'type         node-locked',
      'customer     Ada <it@ada.example>',
      `customer id  ${names.ADA}`,
      'created      just now',
      '',
      'HOST ID   TAG     IP ADDRESS  ACTIVATED  LAST SEEN',
      'build-01  No tag  127.0.0.1   just now   today',
      '',
      'LICENCE FILE                    FOR       SIGNED    EXPIRES       REVOKED',
      expect.stringMatching(/^fil_[0-9a-z]{26} {2}build-01 {2}just now {2}in 12 months {2}no$/),
      '',
    ]);
    const narrow = await at('keys get KEY', { terminal: true, columns: 32 });
    expect(narrow.stderr).toBe('no room for ipAddress,\nactivationTime, id, signedAt;\n--json shows them\n');

    expect((await at('keys deactivate KEY --host-id build-01')).stderr).toBe(
      'freed build-01\n' +
        'warning: a licence file for build-01 still counts until it expires: 2027-11-21 23:59 UTC (in 12 months)\n' +
        'only software that reads the list of lkm revocations export refuses it\n',
    );
    expect(await answer('keys get KEY --fields activations,maxActivations')).toBe('0\t2');
  });

  it('has features, and free metadata as text, as the service names them with --json', async () => {
    const terms =
      '--trial --feature export --feature cores=8 --metadata order=1042 --metadata note=a=b --metadata plan=';
    const { at, json, answer } = await withKey(terms);
    const lookup = await json('keys get KEY');
    expect(Object.keys(lookup)).toEqual(['license', 'customer', 'files']);
    const metadata = { features: { export: true, cores: 8 }, is_trial: true, order: '1042', note: 'a=b', plan: '' };
    expect(lookup.license.metadata).toEqual(metadata);
    expect((await at('keys get KEY', terminal)).stdout).toContain(
      'features     trial, export, cores=8\nmetadata     order=1042, note=a=b, plan=\n',
    );
    expect(JSON.parse(await answer('keys get KEY --fields metadata'))).toEqual(metadata);
  });

  it('names its plan, and says how long the key works that it has replaced', async () => {
    const { at, answer, names } = await withKey('--expires never');
    await answer('plans create --name Pro --feature sso');
    const old = await answer('keys create --plan Pro');
    names.KEY = await answer(`keys reissue ${old}`);
    const { stdout } = await at('keys get KEY', terminal);
    expect(stdout).toMatch(new RegExp(`^key {10}${names.KEY} \\(the old one until 2026-11-28\\)\n`));
    expect(stdout).toContain('\nfeatures     sso (plan Pro)\n');
  });

  it('is a line for each field in a pipe, and one row of values in a format that was chosen', async () => {
    const { answer, key, product } = await withKey('--expires never');
    const row = [key, 'unused', product, '0', '', '', 'node-locked', '', '2026-11-21T12:00:00.000Z'];
    expect(await answer('keys get KEY --format tsv')).toBe(row.join('\t'));
    expect((await answer('keys get KEY')).split('\n').slice(0, 3)).toEqual([
      `key\t${key}`,
      'status\tunused',
      `productId\t${product}`,
    ]);
  });

  it('can be read from stdin or a file, in small letters, and with other separators', async () => {
    const { cwd, names, answer, key } = await withKey();
    writeFileSync(join(cwd, 'key.txt'), `${key}\n`);
    expect(await answer('keys get - -q', { stdin: `${key}\n` })).toBe(key);
    expect(await answer('keys get @key.txt -q')).toBe(key);
    for (const separator of ['', ' ', '\u2013', ' - ', '\u00ad-']) {
      names.KEY = key.toLowerCase().replaceAll('-', separator);
      expect(await answer('keys get KEY -q')).toBe(key);
    }
  });

  it.each(['AAAAAAAAAAAAAAAAAAAAAAAAB', 'ACME-2019-0042-F3D9-77AB-10CE', 'UUUUUUUUUUUUUUUUUUUUUUUUU'])(
    'of another format is sent as it is: %s',
    async (key) => {
      const { fetch, seen } = scriptedService(refusal(404, 1, 'License not found'));
      await lkm(['keys', 'get', key, '-P', PRODUCT], { fetch, env: remote });
      expect(seen[0]?.path).toBe(`/key?productId=${PRODUCT}&licenseKey=${key}`);
    },
  );

  it.each<[argv: string[], env: Record<string, string>, code: number, says: string]>([
    [['--no-key-check'], {}, 6, 'license not found'],
    [[], { LKM_KEY_CHECK: 'off' }, 6, 'license not found'],
    [[], { LKM_KEY_CHECK: 'on' }, 2, '  A key of another service:  --no-key-check sends it as it is\n'],
    [[], { LKM_KEY_CHECK: '' }, 2, 'the key has a typo'],
    [[], { LKM_KEY_CHECK: 'never' }, 2, "LKM_KEY_CHECK: 'never' is not one of"],
  ])('with a typo is sent only without the check: %j %j', async (argv, env, code, says) => {
    const licenseKey = ' aaaaa-AAAAA-AAAAA-AAAAA-AAAAB';
    const { fetch, seen } = scriptedService(refusal(404, 1, 'License not found'));
    const ran = await lkm(['keys', 'get', licenseKey, '-P', PRODUCT, ...argv], { fetch, env: { ...remote, ...env } });
    expect(ran).toMatchObject({ code, stderr: expect.stringContaining(says) });
    const path = `/key?${new URLSearchParams({ productId: PRODUCT, licenseKey })}`;
    expect(seen.map((request) => request.path)).toEqual(code === 6 ? [path] : []);
  });

  it('is marked where a read-only token sees it masked', async () => {
    const { cwd, at, answer, key } = await withKey();
    writeFileSync(join(cwd, 'token'), await answer('tokens create --kind read-only --name ro -q'), { mode: 0o600 });
    const { stdout } = await at('keys get KEY --token-file token', terminal);
    const masked = `*****-*****-*****-*****-${key.slice(-5)}`;
    expect(stdout).toMatch(
      new RegExp(`^key +${RegExp.escape(masked)} \\(masked: the token lacks\\s+license:reveal\\)\n`),
    );
  });
});

describe('a signed file', () => {
  const sign = async (options: string, surroundings: Surroundings = {}) => {
    const shop = await withKey('--max-activations 1');
    writeFileSync(join(shop.cwd, 'taken.lic'), 'mine');
    const ran = await shop.at(`keys sign KEY --host-id h1 ${options}`.trim(), surroundings);
    const used = await shop.answer('keys get KEY --fields activations');
    const file = (name: string) => readFileSync(join(shop.cwd, name), 'utf8');
    return { ...shop, ...ran, used, file };
  };
  const format = 'lkm-lic/1';

  it.each<[options: string, surroundings: Surroundings, code: number, says: string]>([
    ['-o taken.lic', {}, 13, 'error: taken.lic exists\n'],
    ['-o no/such/folder.lic', {}, 13, 'no/such'],
    ['', { terminal: true }, 2, 'a licence file belongs in a file'],
  ])('is refused before a slot is taken: %s', async (options, surroundings, code, says) => {
    const ran = await sign(options, surroundings);
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(says), used: '0' });
    expect(ran.file('taken.lic')).toBe('mine');
  });

  it('replaces a file with --force, and is described with --json beside the file', async () => {
    const { code, stdout, file } = await sign('-o taken.lic --force --ttl 1d --json');
    expect(code).toBe(0);
    expect(JSON.parse(file('taken.lic'))).toMatchObject({ format });
    expect(JSON.parse(stdout)).toMatchObject({ path: 'taken.lic', hostId: 'h1', ttl: 86_400 });
  });

  it.each<[options: string, surroundings: Surroundings]>([
    ['', {}],
    ['-o -', { terminal: true }],
  ])('goes to stdout: %j %j', async (options, surroundings) => {
    const { code, stdout } = await sign(options, surroundings);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ format });
  });

  it('needs --ttl when the key never expires, and the error says so', async () => {
    const { at } = await withKey('--expires never');
    expect(await at('keys sign KEY --host-id h1')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('keys sign --ttl 30d'),
    });
    expect((await at('keys sign KEY --host-id h1 --ttl 30d')).code).toBe(0);
  });

  it('is verified against keys in a file, without any service', async () => {
    const { cwd, answer, key } = await sign('-o a.lic');
    await answer('signing-keys export -o jwks.json');
    const offline = await lkm(['keys', 'verify', 'a.lic', '--jwks', 'jwks.json', '--json'], { cwd });
    expect(offline.code).toBe(0);
    expect(JSON.parse(offline.stdout)).toMatchObject({
      verdict: 'ok',
      claims: { key, machine: 'h1' },
      revocations: null,
    });
  });

  it.each<[options: string, code: number, stdout: string, stderr: string]>([
    ['a.lic', 0, 'ok\n', 'for h1 · expires '],
    ['a.lic --host-id h2', 5, 'machine_mismatch\n', 'it is for another device than --host-id'],
    [`a.lic -P ${PRODUCT}`, 5, 'product_mismatch\n', 'it is for another product than --product'],
    ['a.lic --db other.db --create', 5, 'unknown_kid\n', 'no public key given here has signed it'],
    ['junk', 5, 'token_malformed\n', 'this is not a licence file of lkm'],
    ['a.lic --jwks junk', 13, '', 'junk holds no public keys'],
    ['a.lic --jwks bad.json', 13, '', 'one of the public keys is not an Ed25519 key'],
    ['00000-00000-00000-00000-00000', 2, '', 'this is a licence key'],
  ])('gets a verdict, with what to do: %s', async (options, code, stdout, stderr) => {
    const { cwd, at, file } = await sign('-o a.lic');
    writeFileSync(join(cwd, 'junk'), '{"keys":1}');
    const [header = ''] = String(JSON.parse(file('a.lic')).licenseToken).split('.');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
    const bad = { keys: [{ kty: 'OKP', crv: 'Ed25519', kid, alg: 'EdDSA', use: 'sig', x: 'AAAA' }] };
    writeFileSync(join(cwd, 'bad.json'), JSON.stringify(bad));
    if (options.includes('other.db')) await at('products list --db other.db --create');
    const ran = await at(`keys verify ${options}`, { env: { LKM_PRODUCT: '' } });
    expect(ran).toMatchObject({ code, stdout, stderr: expect.stringContaining(stderr) });
    expect(ran.stderr).not.toContain('00000-0');
  });
});
