import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bulkShop } from './bulk-shop.ts';

const KEY = /[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}/;

describe('in a job of GitHub Actions', () => {
  it('masks every key and token before it is printed', async () => {
    await using shop = await bulkShop();
    const env = { GITHUB_ACTIONS: 'true' };
    const created = await shop.at(['keys', 'create', '-q'], { env });
    const key = created.stdout.trim();
    expect(created.stderr).toBe(`::add-mask::${key}\n`);
    for (const argv of [
      ['keys', 'list'],
      ['keys', 'get', key],
      ['keys', 'export'],
    ]) {
      const { stderr, code } = await shop.at(argv, { env });
      expect({ code, first: stderr.split('\n')[0] }).toEqual({ code: 0, first: `::add-mask::${key}` });
    }
    const many = await shop.at(['keys', 'create', '--count', '3', '--json'], { env });
    expect(many.stderr).toBe(
      JSON.parse(many.stdout)
        .map((row: { key: string }) => `::add-mask::${row.key}\n`)
        .join(''),
    );
    const token = await shop.at(['tokens', 'create', '--kind', 'client', '--name', 'app', '-q'], { env });
    expect(token.stderr).toBe(`::add-mask::${token.stdout.trim()}\n`);
    expect((await shop.at(['keys', 'create', '-q'])).stderr).toBe('');
  });

  it('sets an output of the step, whatever stands in the file already', async () => {
    await using shop = await bulkShop();
    const path = join(shop.cwd, 'output');
    writeFileSync(path, 'before=1\n');
    const env = { GITHUB_OUTPUT: path };
    const one = await shop.at(['keys', 'create', '--github-output', 'key'], { env });
    const many = await shop.at(['keys', 'create', '--count', '2', '-q', '--github-output', 'keys'], { env });
    const [, end, , , second] = readFileSync(path, 'utf8').split('\n');
    expect(readFileSync(path, 'utf8')).toBe(
      `before=1\n${end}\n${one.stdout}${end?.replace('key<<', '')}\n${second}\n${many.stdout}${second?.replace('keys<<', '')}\n`,
    );
    expect([end, second]).toEqual([expect.stringMatching(/^key<<lkm_/), expect.stringMatching(/^keys<<lkm_/)]);
  });

  it('says how to get the key again when the output cannot be written', async () => {
    await using shop = await bulkShop();
    const argv = ['keys', 'create', '--github-output', 'key'];
    const { code, stdout, stderr } = await shop.at(argv, { env: { GITHUB_OUTPUT: shop.cwd } });
    expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
    const [, idempotencyKey = ''] = /--idempotency-key (\S+)/.exec(stderr) ?? [];
    const again = await shop.at(['keys', 'create', '--idempotency-key', idempotencyKey]);
    expect(again.stdout).toMatch(KEY);
    expect(await shop.keys()).toHaveLength(1);
  });

  it.each([
    [{}, 'key', 'GITHUB_OUTPUT is not set: this is no step of a GitHub Actions job'],
    [{ GITHUB_OUTPUT: 'x' }, 'a=b\nc', "--github-output: 'a=b"],
  ])('sends nothing when the output cannot be: %j', async (env, name, message) => {
    await using shop = await bulkShop();
    const { code, stderr } = await shop.at(['keys', 'create', '--github-output', name], { env });
    expect({ code, sent: shop.sent }).toEqual({ code: 2, sent: [] });
    expect(stderr).toContain(message);
  });
});
