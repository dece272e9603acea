import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';

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

describe('tokens', () => {
  it('are printed once, listed without their secret, and revoked', async () => {
    const at = onNewDatabase();
    const created = await at('tokens', 'create', '--kind', 'admin', '--name', 'ci');
    expect(created.stdout).toMatch(/^lkm_admin_\w+\n$/);
    const [, id = ''] = /^created (tok_\w+) · admin · never expires\n/.exec(created.stderr) ?? [];
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
