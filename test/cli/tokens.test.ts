import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mintToken } from '../../src/domain/token.ts';
import { startTestServer } from '../support/server.ts';
import { lkm, tempFolder } from './fake-io.ts';
import { openShop } from './shop.ts';

describe('tokens', () => {
  it('are printed once, listed without their secret, and revoked', async () => {
    const { at, answer, json } = await openShop();
    const created = await at('tokens create --kind admin --name ci');
    expect(created.stdout).toMatch(/^lkm_admin_\w+\n$/);
    const [, id] = /^created (tok_\w+) · admin · expires 2027-02-19 12:00\b/.exec(created.stderr) ?? [];
    const listed = await json('tokens list');
    expect(listed).toMatchObject([{ id, name: 'ci', kind: 'admin', revokedAt: null }]);
    expect(JSON.stringify(listed)).not.toContain(created.stdout.trim());
    expect((await at(`tokens revoke ${id}`)).code).toBe(3);
    const refused = await at(`tokens revoke ${id} --yes`);
    expect(refused.stderr).toMatch(
      /^error: this is the last admin token of the account\n.*revoke tok_\w+ --last-admin$/ms,
    );
    expect((await at(`tokens revoke ${id} --yes --last-admin`)).stderr).toBe(`revoked ${id}\n`);
    expect(await answer('tokens list --last 1 --fields revokedAt')).toBe('2026-11-21T12:00:00.000Z');
    expect(await at('tokens create --kind client --name app -q')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^lkm_client_\w+\n$/),
      stderr: '',
    });
  });

  it('of another system are taken in by their hash, with a warning when they are short', async () => {
    const { at, answer, json, cwd } = await openShop();
    const secret = 'fa5b0c7d9e3f4a21b6c8d0e2f4a6b8c0';
    writeFileSync(join(cwd, 'long'), `${secret}\n`);
    writeFileSync(join(cwd, 'short'), 'hunter2-hunter2-7');
    writeFileSync(join(cwd, 'ours'), mintToken('client', new Uint8Array(32)));
    const imported = await at('tokens import long --kind client --name app4 --expires never --fields id');
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tok_\w+\n$/) });
    const [id] = imported.stdout.split('\n');
    expect(imported.stderr).toBe(`imported ${id} · client · never expires\n`);
    expect(await json('tokens list')).toMatchObject([{ id, name: 'app4', kind: 'client', expiresAt: null }]);
    const { stderr } = await at('tokens import short --kind client --name app3');
    expect(stderr).toMatch(/^warning: the secret has 17 characters: whoever tries many finds it/);
    const again = await at('tokens import long --kind read-only --name again');
    expect([again.code, again.stderr.split('\n')[0]]).toEqual([7, 'error: a token with this secret exists already']);
    writeFileSync(join(cwd, 'bug'), 'undefined-undefined\n');
    for (const file of ['ours', 'bug']) {
      expect(await at(`tokens import ${file} --kind client --name x`)).toMatchObject({ code: 2, stdout: '' });
    }
    expect(await answer('audit list --fields operation --limit 100')).toContain('tokens.import');
  });

  it('may be limited in scope, product, network, number, rate and time', async () => {
    const { at, json, product } = await openShop();
    const limits = `--product ${product} --max-issues 100 --expires 2027-01-31 --rate-limit 60`;
    const rights = '--scope license:write,license:read --network 10.0.0.0/8 --network ::1';
    const { id, token, ...made } = await json(`tokens create --kind scoped --name shop ${rights} ${limits}`);
    expect(made).toMatchObject({
      kind: 'scoped',
      productIds: [product],
      networks: ['10.0.0.0/8', '::1'],
      maxIssues: 100,
      rateLimit: 60,
      expiresAt: '2027-01-31T23:59:59.000Z',
    });
    const { stdout } = await at(`tokens show ${id} --format table`);
    for (const line of [/^networks +10\.0\.0\.0\/8, ::1$/m, /^last used +never$/m]) expect(stdout).toMatch(line);
    expect(stdout).not.toContain(token.slice(-20));
    expect(await json('tokens create --kind client --name app --expires never')).toMatchObject({ expiresAt: null });
  });

  it.each([
    'create --kind client --name app --expires never',
    'rotate ID --expires=2100-01-01T00:00:00Z',
    'import FILE --kind client --name app --expires never',
  ])('that would outlive their maker are refused with a command that works: tokens %s', async (line) => {
    await using service = await startTestServer();
    const cwd = tempFolder();
    writeFileSync(join(cwd, 'FILE'), 'fa5b0c7d9e3f4a21b6c8d0e2f4a6b8c0');
    const make = { name: 'maker', kind: 'admin', expiresAt: '2099-01-01T00:00:00.000Z' };
    const maker = (await service.call('POST', '/token', make)).body.data;
    const old = (await service.call('POST', '/token', { name: 'old', kind: 'client' })).body.data;
    const env = { LKM_BASE_URL: service.server.url, LKM_TOKEN: maker.token };
    const at = (words: readonly string[]) => lkm(words, { cwd, env, terminal: true, columns: 200 });
    const refused = await at(['tokens', ...line.replace('ID', old.id).split(' ')]);
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('2099-01-01T00:00:00.000Z at the')]);
    expect(refused.stderr).not.toContain('--scope');
    const [, works = ''] = /lkm (tokens .*--expires 2099-01-01T00:00:00.000Z.*)/.exec(refused.stderr) ?? [];
    expect(await at(works.trim().split(/ +/))).toMatchObject({ code: 0 });
  });

  it('are replaced by new ones, and work for as long as the overlap says', async () => {
    const { at, json } = await openShop();
    const { id } = await json('tokens create --kind client --name app');
    const rotated = await at(`tokens rotate ${id} --overlap 12h`);
    expect(rotated.stdout).toMatch(/^lkm_client_\w+\n$/);
    expect(rotated.stderr).toContain(`${id} works until 2026-11-22 `);
    // Both were made in one millisecond of this clock, so that either may come first.
    const tokens = await json('tokens list');
    expect(tokens).toHaveLength(2);
    expect(tokens).toContainEqual(expect.objectContaining({ id, expiresAt: '2026-11-22T00:00:00.000Z' }));
    expect(tokens).toContainEqual(expect.objectContaining({ name: 'app', expiresAt: '2027-02-19T12:00:00.000Z' }));
  });
});

describe('tokens check', () => {
  const whole = mintToken('admin', new Uint8Array(32).fill(7));
  const typo = `${whole.slice(0, 30)}${whole[30] === '0' ? '1' : '0'}${whole.slice(31)}`;

  it.each<[what: string, text: string, code: number, codeOfNone: number, verdicts: readonly string[]]>([
    ['a whole token', whole, 0, 5, ['ok']],
    ['a typing error', typo, 5, 5, ['checksum_wrong']],
    ['a token that was cut off', whole.slice(0, -3), 5, 5, ['checksum_wrong']],
    ['a text without a token', 'nothing here\n', 5, 0, []],
    ['nothing', '', 5, 0, []],
  ])('finds %s without asking a service', async (_, text, code, codeOfNone, verdicts) => {
    const check = (...words: string[]) => lkm(['tokens', 'check', '-', '--json', ...words], { stdin: text });
    const { stdout, stderr, ...checked } = await check();
    const found = JSON.parse(stdout).map(({ verdict }: { verdict: string }) => verdict);
    expect({ ...checked, found }).toEqual({ code, found: verdicts });
    if (text.length > 20) expect(stdout + stderr).not.toContain(text.slice(10, 40));
    expect((await check('--none')).code).toBe(codeOfNone);
  });

  it('says where tokens stand in a text that must have none, and shows none of them', async () => {
    const stdin = `first line\nLKM_TOKEN="${whole}" and ${typo}\n\n  ${whole}`;
    const { stdout } = await lkm(['tokens', 'check', '-', '--json', '--none'], { stdin });
    expect(JSON.parse(stdout)).toEqual([
      { line: 2, column: 12, kind: 'admin', ends: whole.slice(-4), verdict: 'ok' },
      { line: 2, column: 87, kind: 'admin', ends: typo.slice(-4), verdict: 'checksum_wrong' },
      { line: 4, column: 3, kind: 'admin', ends: whole.slice(-4), verdict: 'ok' },
    ]);
  });
});
