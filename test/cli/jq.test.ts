import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { lkm, NOW, type Surroundings, says, tempFolder } from './fake-io.ts';

/** A folder with a database of two products, and commands in it. */
async function shop() {
  const cwd = tempFolder();
  let now = NOW;
  const at = (words: readonly string[], surroundings: Surroundings = {}) =>
    // A millisecond between them: lists are in the order in which products were made.
    lkm(words, { cwd, now: now++, ...surroundings, env: { LKM_DB: 'lkm.db', ...surroundings.env } });
  const create = (name: string) => at(['products', 'create', '--name', name, '--create']);
  const [product] = [(await create('Engine')).stdout.trim(), await create('Motor')];
  return { at, cwd, product };
}

const list = ['products', 'list'];

describe('--jq', () => {
  it.each([
    ['.[].name', 'Engine\nMotor\n'],
    ['map(.name)', '["Engine","Motor"]\n'],
    ['.[0] | {name, active}', '{"name":"Engine","active":true}\n'],
    ['.[] | [.name, .active] | @tsv', 'Engine\ttrue\nMotor\ttrue\n'],
    ['.[].nothing', 'null\nnull\n'],
    ['"", length, ""', '\n2\n\n'],
    ['.[] | select(.name == "Ada")', ''],
    ['"line\\nline"', 'line\nline\n'],
    ['12345678901234567890, 1.0', '12345678901234567890\n1.0\n'],
    ['-length', '-2\n'],
  ])('prints text bare and all else as JSON: %s', async (expression, stdout) => {
    const { at } = await shop();
    expect(await at([...list, `--jq=${expression}`])).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('gets what --json prints, with its fields, and goes before LKM_FORMAT', async () => {
    const { at } = await shop();
    for (const words of [list, [...list, '--fields', 'name,active'], ['config', 'path'], ['explain', '404/1']]) {
      const { stdout } = await at([...words, '--json']);
      expect(stdout).not.toBe('');
      expect((await at([...words, '--jq', '.'], { env: { LKM_FORMAT: 'table' }, terminal: true })).stdout).toBe(stdout);
      expect((await at([...words, '--jq', 'type', '--json'])).stdout).toMatch(/^(array|object)\n$/);
    }
  });

  it('gets each line of jsonl by itself', async () => {
    const { at } = await shop();
    expect((await at([...list, '--format', 'jsonl', '--jq', '.name'])).stdout).toBe('Engine\nMotor\n');
  });

  it('shows a terminal what would control it, and gives a pipe the text itself', async () => {
    const { at } = await shop();
    const words = [...list, '--jq', '"a\\u001b[2Jb\\tc\\nd", ["\\u009b"]'];
    expect((await at(words)).stdout).toBe('a\u001b[2Jb\tc\nd\n["\\u009b"]\n');
    expect((await at(words, { terminal: true })).stdout).toBe('a\\u{1b}[2Jb\tc\nd\n["\\u009b"]\n');
  });

  it.each([
    ['.[', 'syntax error, unexpected end of file at line 1, column 2'],
    ['.key | shout', 'shout/0 is not defined at line 1, column 8'],
    ['$key', '$key is not defined at line 1, column 1'],
    ['', 'Top-level program not given (try ".")'],
  ])('refuses %j before anything is sent', async (expression, why) => {
    const { at, product } = await shop();
    const { code, stdout, stderr } = await at(['keys', 'create', '-P', product, '--jq', expression]);
    const error = { code: 'usage', exitCode: 2, message: `--jq: ${why}`, hint: 'Nothing was sent.' };
    expect({ code, stdout, error: JSON.parse(stderr).error }).toMatchObject({ code: 2, stdout: '', error });
    expect((await at(['keys', 'list', '-q'])).stdout).toBe('');
  });

  it('prints a new key whole where it fails on it, and none of it on stderr', async () => {
    const { at, product } = await shop();
    const words = ['keys', 'create', '-P', product, '--jq'];
    const { code, stdout, stderr } = await at([...words, '.key | tonumber']);
    const debugged = await at([...words, '.key | tonumber', '--debug']);
    const printed = JSON.parse(stdout);
    expect({ code, printed, error: JSON.parse(stderr).error }).toMatchObject({
      code: 13,
      printed: { productId: product },
      error: {
        message: '--jq: string (…) cannot be parsed as a number',
        hint: 'The result was written as it is.',
        idempotencyKey: printed.idempotencyKey,
      },
    });
    // jq cuts what it repeats.
    expect(stderr).not.toContain(printed.key.slice(0, 5));
    expect(debugged.stderr).not.toContain(JSON.parse(debugged.stdout).key.slice(0, 5));
    // It was delivered: the next one is another key, and the first one can be asked for.
    const next = (await at([...words, '.key'])).stdout;
    const again = (await at([...words, '.key', '--idempotency-key', printed.idempotencyKey])).stdout;
    expect({ next, again }).toEqual({ next: expect.not.stringContaining(printed.key), again: `${printed.key}\n` });
  });

  it.each([
    ['a change', ['customers', 'create', '--name', 'Ada'], '.id.x', { name: 'Ada' }],
    ['several keys', ['keys', 'create', '--count', '1', '--expires', '1y'], '.[].key.x', [{ status: 'issued' }]],
  ])('prints whole what %s has made', async (_, words, expression, whole) => {
    const { at, product } = await shop();
    const { code, stdout } = await at([...words, '--jq', expression], { env: { LKM_PRODUCT: product } });
    expect({ code, printed: JSON.parse(stdout) }).toMatchObject({ code: 13, printed: whole });
  });

  it('writes it whole into the file of -o', async () => {
    const { at, cwd, product } = await shop();
    const { code, stdout } = await at(['keys', 'create', '-P', product, '--jq', '.key.nothing', '-o', 'key.txt']);
    expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
    expect(JSON.parse(readFileSync(join(cwd, 'key.txt'), 'utf8'))).toMatchObject({ productId: product });
    await at(['keys', 'create', '-P', product, '--jq', '.key', '-o', 'second.txt']);
    expect(readFileSync(join(cwd, 'second.txt'), 'utf8')).toMatch(/^\w{5}(-\w{5}){4}\n$/);
  });

  it.each([
    ['.[].name.first', 'Cannot index string with string ("first")'],
    ['.[0] | tonumber', 'object (…) cannot be parsed as a number'],
    ['.[0].createdAt | error', says('--jq: 20')],
  ])('prints nothing where it fails on what was only read: %s', async (expression, why) => {
    const { at } = await shop();
    const { code, stdout, stderr } = await at([...list, '--jq', expression]);
    const message = typeof why === 'string' ? `--jq: ${why}` : why;
    expect({ code, stdout, error: JSON.parse(stderr).error }).toMatchObject({
      code: 13,
      stdout: '',
      error: { message },
    });
  });

  it.each([
    '"x" * 2000000000 | length',
    '[range(100000000)] | length',
    'def f: [f]; f',
    'def f: 1 + f; f',
    'reduce range(100000) as $i (0; [.]) | tojson',
  ])('refuses what breaks jq itself, in one line: %s', async (expression) => {
    const { at, product } = await shop();
    const printed = vi.spyOn(console, 'error');
    const read = await at([...list, `--jq=${expression}`]);
    const error = { code: 'usage', exitCode: 2, message: '--jq: jq ran out of memory' };
    expect([read.code, read.stdout, read.stderr.split('\n').length]).toEqual([2, '', 2]);
    expect(JSON.parse(read.stderr).error).toMatchObject(error);
    // A new key is never lost with it.
    const { code, stdout } = await at(['keys', 'create', '-P', product, `--jq=.key as $k | ${expression}`]);
    expect([13, 2]).toContain(code);
    if (code === 13) expect(JSON.parse(stdout)).toMatchObject({ productId: product });
    else expect((await at(['keys', 'list', '-q'])).stdout).toBe('');
    expect(printed).not.toHaveBeenCalled();
  });

  it('takes documents as a whole', async () => {
    const { at, cwd, product } = await shop();
    for (const _ of [1, 2]) await at(['keys', 'create', '-P', product]);
    const keys = (await at(['keys', 'list', '--jq', '.[].key'])).stdout;
    expect((await at(['keys', 'export', '--jq', '.[].key'])).stdout).toBe(keys);
    await at(['keys', 'export', '--jq', 'length', '-o', 'count']);
    expect(readFileSync(join(cwd, 'count'), 'utf8')).toBe(`${keys.split('\n').length - 1}\n`);
  });

  it('is refused beside a format that is not JSON', async () => {
    const { at } = await shop();
    const { code, stderr } = await at([...list, '--jq', '.', '--format', 'csv']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: says('--jq filters JSON, and --format csv asks for something else'),
    });
  });

  it('has errors as JSON, also of a command line that cannot be read', async () => {
    const { at } = await shop();
    for (const jq of [['--jq', '.'], ['--jq=.']]) {
      const { stderr } = await at(['nothing', ...jq]);
      expect(JSON.parse(stderr).error).toMatchObject({ code: 'usage', exitCode: 2 });
    }
  });
});
