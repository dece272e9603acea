import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, type Surroundings, tempFolder } from './fake-io.ts';
import { PRODUCT, scriptedService } from './scripted-service.ts';

const file = (cwd: string): string => join(cwd, '.config', 'lkm', 'config.json');

/** A home in which commands run one after the other, with a profile if its settings are given. */
function home(settings?: Record<string, string>) {
  const cwd = tempFolder();
  if (settings !== undefined) {
    mkdirSync(join(cwd, '.config', 'lkm'), { recursive: true, mode: 0o700 });
    const shop = { baseUrl: 'https://shop.example', token: 'lkm_scoped_one', settings };
    const config = { version: 1, currentProfile: 'shop', profiles: { shop } };
    writeFileSync(file(cwd), JSON.stringify(config), { mode: 0o600 });
  }
  return {
    run: (argv: readonly string[], more: Surroundings = {}) => lkm(argv, { cwd, ...more }),
    config: () => JSON.parse(readFileSync(file(cwd), 'utf8')),
  };
}

const onDatabase = ['--db', 'lkm.db', '--create'];

describe('lkm config', () => {
  it('stores values that every command then uses unless a variable or flag says otherwise, and forgets them', async () => {
    const { run, config } = home();
    expect(await run(['config', 'set', 'format', 'json'])).toMatchObject({ code: 0, stderr: 'format is json\n' });
    expect(config().settings).toEqual({ format: 'json' });
    const list = ['products', 'list', ...onDatabase];
    expect((await run(list)).stdout).toBe('[]\n');
    const env = { LKM_FORMAT: 'csv' };
    expect((await run(list, { env })).stdout).toMatch(/^id,name/);
    expect((await run([...list, '--json'], { env })).stdout).toBe('[]\n');
    expect((await run(['config', 'unset', 'format'])).code).toBe(0);
    expect(config().settings).toEqual({});
    expect((await run(list)).stdout).toBe('');
  });

  it('counts for one profile, where that names the service', async () => {
    const { run } = home({ product: PRODUCT });
    const { fetch, seen } = scriptedService([404, { message: 'License not found', code: 1 }]);
    await run(['keys', 'get', 'ABCD-EFGH-IJKL-MNOP-QRST-UVWX', '--no-key-check'], { fetch });
    expect(seen[0]?.path).toContain(`productId=${PRODUCT}`);
    const elsewhere = await run(['keys', 'create', ...onDatabase]);
    expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringContaining('--product is required') });
  });

  it('says of each setting what it is and where it comes from', async () => {
    const { run } = home({ product: PRODUCT });
    await run(['config', 'set', 'timeout', '10s']);
    const { stdout } = await run(['config', 'list', '--json'], { env: { LKM_MAX_WAIT: '5m' } });
    expect(JSON.parse(stdout).filter(({ value }: { value: unknown }) => value !== null)).toMatchObject([
      { name: 'product', value: PRODUCT, from: 'profile shop' },
      { name: 'timeout', value: '10s', from: 'config' },
      { name: 'max-wait', value: '5m', from: 'LKM_MAX_WAIT' },
    ]);
    expect((await run(['config', 'get', 'timeout'])).stdout).toBe('10s\n');
    expect((await run(['config', 'get', 'quiet'])).code).toBe(6);
    expect((await run(['config', 'path'])).stdout).toMatch(/\/\.config\/lkm\/config\.json\n$/);
  });

  it('stores for a profile with --profile', async () => {
    const { run, config } = home({});
    await run(['config', 'set', 'product', PRODUCT, '-p', 'shop']);
    expect(config().profiles.shop.settings).toEqual({ product: PRODUCT });
    const { code, stderr } = await run(['config', 'set', 'product', PRODUCT, '-p', 'nowhere']);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("no profile 'nowhere'") });
  });

  it.each([
    ['format', 'xml', "format: 'xml' is not one of table, tsv"],
    ['timeout', 'soon', 'timeout: '],
    ['timeout', '0s', "'0s' is no time to wait"],
    ['product', 'x'.repeat(300), 'is not the id of a product'],
    ['product', 'Engine Pro', 'there is no service'],
    ['quiet', 'maybe', 'quiet: '],
    ['token', 'secret', "there is no setting 'token'"],
    ['constructor', 'x', "there is no setting 'constructor'"],
  ])('refuses %s %s and stores nothing', async (name, value, message) => {
    const { run, config } = home();
    const { code, stderr } = await run(['config', 'set', name, value]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    expect(config).toThrow();
  });

  it('names a stored value that was written by hand and is wrong, and how to forget it', async () => {
    const { run } = home({ timeout: 'soon' });
    const refused = await run(['keys', 'list', '-P', PRODUCT]);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("timeout of profile shop: 'soon' is not"),
    });
    expect(refused.stderr).toMatch(/Forget it: +lkm config unset timeout -p shop\n/);
    expect((await run(['products', 'list', ...onDatabase])).code).toBe(0);
    expect((await run(['config', 'unset', 'timeout', '-p', 'shop'])).code).toBe(0);
    const { fetch } = scriptedService([404, { message: 'Product not found', code: 1 }]);
    expect((await run(['products', 'get', PRODUCT], { fetch })).code).toBe(6);
  });
});
