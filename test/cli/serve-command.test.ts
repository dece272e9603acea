import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { occupiedPort } from '../support/ports.ts';
import { fakeIo, lkm, type Surroundings, tempFolder } from './fake-io.ts';
import { started } from './started.ts';

/** A program that calls the service of its environment, writes what it got to `seen.json`, and ends with 7. */
const program = `
const { writeFileSync } = require('node:fs');
const { LKM_BASE_URL: url, LKM_TOKEN: token, LKM_DB, LKM_PROFILE, LKM_TOKEN_FILE } = process.env;
const headers = { authorization: 'Bearer ' + token };
fetch(url + '/token/self', { headers }).then(async (response) => {
  const self = (await response.json()).data;
  const products = (await (await fetch(url + '/product', { headers })).json()).data;
  const seen = { url, token, others: [LKM_DB, LKM_PROFILE, LKM_TOKEN_FILE], argv: process.argv.slice(2), self, products };
  writeFileSync('seen.json', JSON.stringify(seen));
  process.exit(7);
});`;

async function served(argv: readonly string[], surroundings: Surroundings = {}) {
  const { cwd = tempFolder() } = surroundings;
  writeFileSync(join(cwd, 'program.cjs'), program);
  const line = ['serve', ...argv, '--', process.execPath, 'program.cjs', '--port', '1', '-q'];
  const ran = await lkm(line, { ...surroundings, cwd });
  return { ...ran, cwd, seen: JSON.parse(readFileSync(join(cwd, 'seen.json'), 'utf8')) };
}

const folders = (cwd: string): string[] => readdirSync(cwd).filter((name) => name.startsWith('lkm-serve-'));

describe('lkm serve -- COMMAND', () => {
  it('runs it against a service of its own, ends with its exit code, and leaves nothing behind', async () => {
    const env = { LKM_DB: 'mine.db', LKM_PROFILE: 'shop', LKM_TOKEN_FILE: 'no-such-file', LKM_TOKEN: 'mine' };
    const { code, stdout, stderr, seen, cwd } = await served([], { env });
    expect({ code, stdout, stderr }).toEqual({ code: 7, stdout: '', stderr: '' });
    expect(seen).toMatchObject({ argv: ['--port', '1', '-q'], others: [null, null, null], products: [] });
    expect(seen.self).toMatchObject({ kind: 'admin' });
    expect(readdirSync(cwd).sort()).toEqual(['program.cjs', 'seen.json']);
    await expect(fetch(seen.url)).rejects.toThrow('fetch failed');
  });

  it.each([[[]], [['--clock', '2030-01-01T00:00:00Z', '--json']]])(
    'lends it a token of a database that is there, and takes it back, with %j',
    async (more) => {
      const cwd = tempFolder();
      const at = (...argv: string[]) => lkm([...argv, '--db', 'shop.db'], { cwd });
      await at('products', 'create', '--name', 'Engine', '--create');
      const { code, stdout, stderr, seen } = await served(['--db', 'shop.db', ...more], { cwd });
      expect({ code, stdout, stderr }).toEqual({ code: 7, stdout: '', stderr: '' });
      expect([seen.self.name, seen.products.length]).toEqual(['lkm serve', 1]);
      const tokens = JSON.parse((await at('tokens', 'list', '--json')).stdout);
      expect(tokens.map(({ name, revokedAt }: Record<string, string>) => [name, revokedAt !== null])).toEqual([
        ['lkm serve', true],
      ]);
      expect(folders(cwd)).toEqual([]);
    },
  );

  it('refuses -o before the command runs, and says what cannot be run', async () => {
    const cwd = tempFolder();
    const line = ['serve', '-o', 'file', '--', process.execPath, '-e', "require('fs').writeFileSync('ran', '')"];
    const refused = await lkm(line, { cwd });
    expect(refused).toMatchObject({ code: 2, stderr: 'error: -o does not go with a command behind --\n' });
    const failed = await lkm(['serve', '--', './no-such-program'], { cwd });
    expect(failed).toMatchObject({ code: 13, stdout: '' });
    expect(failed.stderr).toBe('error: cannot run ./no-such-program (ENOENT)\n  Check the words behind --.\n');
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('passes a signal on, and ends as a shell would', async () => {
    const cwd = tempFolder();
    const controller = new AbortController();
    const { io } = fakeIo({ cwd, stop: controller.signal });
    writeFileSync(join(cwd, 'wait.cjs'), "require('node:fs').writeFileSync('up', ''); setInterval(() => {}, 1000);");
    const ended = run(['serve', '--', process.execPath, 'wait.cjs'], io);
    await expect.poll(() => readdirSync(cwd)).toContain('up');
    controller.abort('SIGTERM');
    expect(await ended).toBe(143);
    expect(folders(cwd)).toEqual([]);
  });
});

describe('lkm serve --seed', () => {
  const shopOf = async (...seed: string[]) => {
    const cwd = tempFolder();
    const { printed, stop } = await started(['--seed', ...seed, '--db', 'demo.db', '--json'], { cwd });
    expect(JSON.parse(printed.stdout)).toMatchObject({ event: 'ready' });
    const json = async (line: string) =>
      JSON.parse((await lkm([...line.split(' '), '-p', 'local', '--json'], { cwd })).stdout);
    const [stats, customers] = [await json('stats'), await json('customers list')];
    expect(await json('tokens list')).toMatchObject([{ name: 'local', expiresAt: null }]);
    await stop();
    return { stats, customers };
  };
  const numbersOf = ({ keys, devices, issuedPerWeek, products }: Record<string, unknown[]>) => {
    const counts = (products ?? []).map((product) => JSON.stringify({ ...Object(product), productId: '' }));
    return { keys, devices, issuedPerWeek, products: counts.sort() };
  };

  it('tells a story of twelve weeks, which is the same for the same seed', async () => {
    const [one, again, other] = [await shopOf(), await shopOf('1'), await shopOf('7')];
    expect(one.stats.keys).toMatchObject({ total: 60 });
    expect(one.customers).toHaveLength(24);
    expect(one.stats.issuedPerWeek.filter(({ count }: { count: number }) => count > 0).length).toBeGreaterThan(8);
    for (const name of ['expired', 'unused', 'trial', 'full']) expect(one.stats.keys[name]).toBeGreaterThan(0);
    expect(numbersOf(again.stats)).toEqual(numbersOf(one.stats));
    expect(numbersOf(other.stats).devices).not.toEqual(numbersOf(one.stats).devices);
  });

  it('fills no database that has data, and makes none where it cannot listen', async () => {
    const cwd = tempFolder();
    await using other = await occupiedPort();
    const seed = (port: number) => lkm(['serve', '--seed', '--db', 'shop.db', '--port', String(port)], { cwd });
    const taken = await seed(other.port);
    expect(taken).toMatchObject({ code: 13, stderr: expect.stringContaining(`port ${other.port} on 127.0.0.1 is`) });
    expect(readdirSync(cwd).filter((name) => name.startsWith('shop'))).toEqual([]);
    await lkm(['products', 'create', '--name', 'Engine', '--db', 'shop.db', '--create'], { cwd });
    expect(await seed(0)).toMatchObject({ code: 13, stderr: expect.stringContaining('/shop.db has data already\n') });
  });
});
