import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Fetch } from '../../src/contract/endpoint.ts';
import { mintToken } from '../../src/domain/token.ts';
import { lkm, NOW, tempFolder } from './fake-io.ts';
import { customer, listed, remote, scriptedService } from './scripted-service.ts';

const onNewDatabase = () => {
  const surroundings = { cwd: tempFolder(), env: { LKM_DB: 'lkm.db' } };
  return (...argv: string[]) => lkm([...argv, '--create'], surroundings);
};

describe('products', () => {
  it('are created, shown, renamed, stopped and listed', async () => {
    const at = onNewDatabase();
    const id = (await at('products', 'create', '--name', 'Engine Pro', '-q')).stdout.trim();
    expect((await at('products', 'get', id, '--fields', 'id,name,active')).stdout).toBe(`${id}\tEngine Pro\ttrue\n`);
    expect((await at('products', 'update', id, '--name', 'Engine 2', '--inactive')).stderr).toBe(`updated ${id}\n`);
    expect((await at('product', 'ls', '--fields', 'name,active')).stdout).toBe('Engine 2\tfalse\n');
    expect((await at('keys', 'create', '-P', id)).code).toBe(6);
    await at('products', 'update', id, '--active');
    const stale = await at('products', 'update', id, '--inactive', '--if-updated-at', '2026-01-01T00:00:00Z');
    expect(stale).toMatchObject({ code: 7, stdout: '' });
    expect((await at('keys', 'create', '-P', id)).code).toBe(0);
  });
});

describe('customers', () => {
  it('are created, found by a part of their address, and deleted', async () => {
    const at = onNewDatabase();
    const ada = (await at('customers', 'create', '--name', 'Ada Ltd', '--email', 'it@Ada.example', '-q')).stdout.trim();
    const bob = (await at('customers', 'create', '--name', 'Bob', '-q')).stdout.trim();
    expect((await at('customers', 'list', '--email', 'ADA', '-q')).stdout).toBe(`${ada}\n`);
    expect((await at('customers', 'list', '--limit', '1', '-q')).stdout).toMatch(/^cus_\w+\n$/);
    const { stdout, stderr } = await at('customers', 'rm', ada, bob, '-y', '--json');
    expect(JSON.parse(stdout)).toMatchObject([
      { id: ada, deleted: true },
      { id: bob, deleted: true },
    ]);
    expect(stderr).toBe('');
    expect((await at('customers', 'list', '-q')).stdout).toBe('');
  });
});

describe('customers list', () => {
  /** A database with three customers, and their names as a command lists them. */
  async function shop() {
    const surroundings = { cwd: tempFolder(), env: { LKM_DB: 'lkm.db' } };
    const customers = [
      ['Ada Engines Ltd', '--email', 'it@Ada.example'],
      ['Bob', '--email', 'bob@engines.example'],
      ['Eve ΑΣΤΗΡ'],
    ];
    for (const [at, words] of customers.entries()) {
      await lkm(['customers', 'create', '--create', '--name', ...words], { ...surroundings, now: NOW + at });
    }
    return { list: (...argv: string[]) => lkm(['customers', 'list', '--fields', 'name', ...argv], surroundings) };
  }

  it.each<[argv: readonly string[], names: string]>([
    [[], 'Ada Engines Ltd\nBob\nEve ΑΣΤΗΡ\n'],
    // Its last letter has another form at the end of a word.
    [['--text', 'ας'], 'Eve ΑΣΤΗΡ\n'],
    [['--text', 'ΑΣ'], 'Eve ΑΣΤΗΡ\n'],
    [['--email', 'ADA'], 'Ada Engines Ltd\n'],
    [['--text', 'engines'], 'Ada Engines Ltd\nBob\n'],
    [['--text', 'ngines'], ''],
    [['--text', 'engines', '--email', 'bob'], 'Bob\n'],
    [['--active', 'true'], 'Ada Engines Ltd\nBob\nEve ΑΣΤΗΡ\n'],
    [['--active', 'false'], ''],
  ])('names those who fit %j', async (argv, names) => {
    const { list } = await shop();
    const stderr = names === '' ? 'no customer fits; leave a filter out to see more\n' : '';
    expect(await list(...argv)).toEqual({ code: 0, stdout: names, stderr });
  });

  it('stops at --limit, and says when there are more', async () => {
    const { list } = await shop();
    const more = 'these are the first 2; there are more\n';
    expect(await list('--limit', '2')).toEqual({ code: 0, stdout: 'Ada Engines Ltd\nBob\n', stderr: more });
    expect((await list('--limit', '1')).stderr).toBe('this is the first one; there are more\n');
    expect(await list('--limit', '3')).toEqual({ code: 0, stdout: 'Ada Engines Ltd\nBob\nEve ΑΣΤΗΡ\n', stderr: '' });
    expect((await list('--limit', '2', '--text', 'engines')).stderr).toBe('');
    expect((await list('--limit', '2', '-q')).stderr).toBe('');
  });

  it('lets the service filter, and asks it for no more than --limit needs', async () => {
    const asked = async (...argv: string[]) => {
      const { fetch, seen } = scriptedService(listed([]));
      await lkm(['customers', 'list', ...argv], { fetch, env: remote });
      return seen.map(({ path }) => path);
    };
    expect(await asked()).toEqual(['/customer']);
    expect(await asked('--email', 'a b', '--text', 'c', '--active', 'false')).toEqual([
      '/customer?email=a+b&text=c&active=false',
    ]);
    expect(await asked('--limit', '10')).toEqual(['/customer?page=1&limit=11']);
    expect(await asked('--limit', '5000')).toEqual(['/customer?page=1&limit=1000']);
  });

  it.each([
    [['--active', 'yes'], "--active: 'yes' is neither true nor false"],
    [['--text', ''], '--text is shorter than 1 character'],
    [['--email', 'x'.repeat(257)], '--email is longer than 256 characters'],
  ])('refuses %j before anything is sent', async (argv, message) => {
    const { fetch, seen } = scriptedService(listed([]));
    const ran = await lkm(['customers', 'list', ...argv], { fetch, env: remote });
    expect(ran).toEqual({ code: 2, stdout: '', stderr: `error: ${message}\n` });
    expect(seen).toEqual([]);
  });

  it('reads the pages that a long --limit needs', async () => {
    const numbered = Array.from({ length: 1_500 }, (_, at) => customer(`cus_${at}`, `name ${at}`));
    const pages: string[] = [];
    const fetch: Fetch = async ({ url }) => {
      const { search, searchParams } = new URL(url);
      pages.push(search);
      const page = Number(searchParams.get('page'));
      const data = numbered.slice((page - 1) * 1_000, page * 1_000);
      const meta = { total: numbered.length, page, limit: 1_000, totalPages: 2 };
      return Response.json({ action: 'customers.list', status: true, data, meta, code: 0 });
    };
    const { stdout, stderr } = await lkm(['customers', 'list', '--limit', '1200', '--fields', 'id'], {
      fetch,
      env: remote,
    });
    expect(stdout).toBe(
      numbered
        .slice(0, 1_200)
        .map(({ id }) => `${id}\n`)
        .join(''),
    );
    expect(stderr).toBe('these are the first 1200; there are more\n');
    expect(pages).toEqual(['?page=1&limit=1000', '?page=2&limit=1000']);
  });
});

describe('tokens', () => {
  it('are printed once, listed without their secret, and revoked', async () => {
    const at = onNewDatabase();
    const created = await at('tokens', 'create', '--kind', 'admin', '--name', 'ci');
    expect(created.stdout).toMatch(/^lkm_admin_\w+\n$/);
    const [, id = ''] = /^created (tok_\w+) · admin · expires 2027-02-19 12:00\b/.exec(created.stderr) ?? [];
    const listed = await at('tokens', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id, name: 'ci', kind: 'admin', revokedAt: null }]);
    expect(listed.stdout).not.toContain(created.stdout.trim());
    expect((await at('tokens', 'revoke', id)).code).toBe(3);
    const refused = await at('tokens', 'revoke', id, '--yes');
    expect(refused.stderr).toContain('error: this is the last admin token of the account\n');
    expect(refused.stderr).toContain('lkm tokens revoke ID --last-admin');
    expect((await at('tokens', 'revoke', id, '--yes', '--last-admin')).stderr).toBe(`revoked ${id}\n`);
    expect((await at('tokens', 'list', '--fields', 'revokedAt')).stdout).toBe('2026-11-21T12:00:00.000Z\n');
  });

  it('are the bare token with -q, so that a script can keep it', async () => {
    const at = onNewDatabase();
    const { stdout, stderr } = await at('tokens', 'create', '--kind', 'client', '--name', 'app', '-q');
    expect(stdout).toMatch(/^lkm_client_\w+\n$/);
    expect(stderr).toBe('');
  });

  it('may be limited in scope, product, number and time', async () => {
    const at = onNewDatabase();
    const product = (await at('products', 'create', '--name', 'Engine Pro', '-q')).stdout.trim();
    const limits = ['--product', product, '--max-issues', '100', '--expires', '2027-01-31'];
    const scopes = ['--scope', 'license:write', '--scope', 'license:read'];
    const { stdout } = await at(
      'tokens',
      'create',
      '--kind',
      'scoped',
      '--name',
      'shop',
      ...scopes,
      ...limits,
      '--json',
    );
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'scoped',
      productIds: [product],
      maxIssues: 100,
      expiresAt: '2027-01-31T23:59:59.000Z',
    });
  });

  it('may be limited to networks and to a rate, and need not end', async () => {
    const at = onNewDatabase();
    const limits = ['--network', '10.0.0.0/8', '--network', '::1', '--rate-limit', '60', '--expires', 'never'];
    const made = await at('tokens', 'create', '--kind', 'client', '--name', 'app', ...limits, '--json');
    const { id, ...token } = JSON.parse(made.stdout);
    expect(token).toMatchObject({ networks: ['10.0.0.0/8', '::1'], rateLimit: 60, expiresAt: null });
    const { stdout } = await at('tokens', 'show', id, '--format', 'table');
    expect(stdout).toMatch(/^networks +10\.0\.0\.0\/8, ::1$/m);
    expect(stdout).toMatch(/^last used +never$/m);
    expect(stdout).not.toContain(token.token.slice(-20));
  });

  it('are replaced by new ones, and work for as long as the overlap says', async () => {
    const at = onNewDatabase();
    const { id } = JSON.parse((await at('tokens', 'create', '--kind', 'client', '--name', 'app', '--json')).stdout);
    const rotated = await at('tokens', 'rotate', id, '--overlap', '12h');
    expect(rotated.stdout).toMatch(/^lkm_client_\w+\n$/);
    expect(rotated.stderr).toContain(`${id} works until 2026-11-22 `);
    const tokens = JSON.parse((await at('tokens', 'list', '--json')).stdout);
    expect(tokens).toHaveLength(2);
    // Both were made in one millisecond of this clock, so that either may come first.
    expect(tokens).toContainEqual(expect.objectContaining({ id, expiresAt: '2026-11-22T00:00:00.000Z' }));
    expect(tokens).toContainEqual(expect.objectContaining({ name: 'app', expiresAt: '2027-02-19T12:00:00.000Z' }));
  });
});

describe('tokens check', () => {
  const whole = mintToken('admin', new Uint8Array(32).fill(7));
  const typo = `${whole.slice(0, 30)}${whole[30] === '0' ? '1' : '0'}${whole.slice(31)}`;
  const cut = whole.slice(0, -3);
  const check = (text: string, ...words: string[]) =>
    lkm(['tokens', 'check', '-', '--json', ...words], { stdin: text });

  it.each<[string, string, number, readonly string[]]>([
    ['a whole token', whole, 0, ['ok']],
    ['a typing error', typo, 5, ['checksum_wrong']],
    ['a token that was cut off', cut, 5, ['checksum_wrong']],
    ['a text without a token', 'nothing here', 5, []],
  ])('finds %s without asking a service', async (_, text, code, verdicts) => {
    const answer = await check(text);
    expect({ code: answer.code, verdicts: JSON.parse(answer.stdout).map(({ verdict }: never) => verdict) }).toEqual({
      code,
      verdicts,
    });
    expect(answer.stdout + answer.stderr).not.toContain(text.slice(10, 40));
  });

  it('says where tokens stand in a text that must have none, and shows none of them', async () => {
    const answer = await check(`first line\nLKM_TOKEN="${whole}" and ${typo}\n`, '--none');
    expect(JSON.parse(answer.stdout)).toEqual([
      { line: 2, column: 12, kind: 'admin', ends: whole.slice(-4), verdict: 'ok' },
      { line: 2, column: 87, kind: 'admin', ends: typo.slice(-4), verdict: 'checksum_wrong' },
    ]);
    expect(answer.code).toBe(5);
    const [row] = JSON.parse((await check(`\n\n  ${whole}`, '--none')).stdout);
    expect(row).toMatchObject({ line: 3, column: 3 });
  });

  it.each(['first line\n', ' \n', ''])('finds nothing in %j', async (text) => {
    expect((await check(text, '--none')).code).toBe(0);
    expect((await check(text)).code).toBe(5);
  });
});

describe('a database file', () => {
  it('that is none ends with 13 and is left alone', async () => {
    const cwd = tempFolder();
    const text = 'not a database, but long enough to be taken for the header of one';
    writeFileSync(join(cwd, 'notes.txt'), text);
    const { code, stderr } = await lkm(['products', 'list', '--db', 'notes.txt'], { cwd });
    expect(code).toBe(13);
    expect(stderr).toMatch(/^error: .*notes\.txt.*\n {2}.+\n$/);
    expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe(text);
  });
});
