import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

/** A folder with a master key in it, and lkm run there with these variables. */
function inFolder(mode = 0o600, text = `${KEY}\n`) {
  const cwd = tempFolder();
  const file = join(cwd, 'master.key');
  writeFileSync(file, text, { mode });
  chmodSync(file, mode);
  const run = (words: readonly string[], env: Record<string, string> = {}) => lkm([...words], { cwd, env });
  return { cwd, file, run };
}

const create = ['products', 'create', '--name', 'Editor', '--db', 'lkm.db', '--create', '-q'];

describe('a master key', () => {
  it('seals a new database, which then opens only with that key', async () => {
    const { file, run } = inFolder();
    const sealed = { LKM_MASTER_KEY_FILE: file };
    expect((await run(create, sealed)).code).toBe(0);
    expect((await run(['products', 'list', '--db', 'lkm.db'], { LKM_MASTER_KEY: KEY })).code).toBe(0);
    const refused = await run(['products', 'list', '--db', 'lkm.db']);
    expect(refused.code).toBe(13);
    expect(refused.stderr).toContain('the secrets in this database are sealed, and there is no master key');
    const other = await run(['products', 'list', '--db', 'lkm.db'], { LKM_MASTER_KEY: KEY.replace('B', 'C') });
    expect([other.code, other.stderr]).toEqual([13, expect.stringContaining('is not that of this database')]);
    // What needs no secret needs no master key.
    expect((await run(['db', 'status', '--db', 'lkm.db'])).code).toBe(0);
  });

  it.each<[mode: number, text: string, code: number, says: string]>([
    [0o640, KEY, 13, 'chmod 600 '],
    [0o604, KEY, 13, 'chmod 600 '],
    ...['', 'short', Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64'), `${KEY} ${KEY}`].map(
      (text): [number, string, number, string] => [0o600, text, 2, '32 bytes in base64'],
    ),
  ])('in a file with mode %o is not taken from %j, which is shown nowhere', async (mode, text, exitCode, says) => {
    const { file, run } = inFolder(mode, text);
    const { code, stderr } = await run(create, { LKM_MASTER_KEY_FILE: file });
    expect([code, stderr]).toEqual([exitCode, expect.stringContaining(says)]);
    if (text !== '') expect(stderr).not.toContain(text);
  });

  it('is one: two variables are refused', async () => {
    const { file, run } = inFolder();
    const { code, stderr } = await run(create, { LKM_MASTER_KEY_FILE: file, LKM_MASTER_KEY: KEY });
    expect([code, stderr]).toEqual([2, expect.stringContaining('name two master keys')]);
  });
});

describe('db rekey', () => {
  it('seals what was plain, and makes it plain again', async () => {
    const { file, run } = inFolder();
    await run(create);
    const rekey = ['db', 'rekey', '--db', 'lkm.db', '--json'];
    const sealed = await run([...rekey, '--new-key-file', file]);
    expect(JSON.parse(sealed.stdout)).toEqual({ secrets: 'sealed', written: 1 });
    expect((await run(['products', 'list', '--db', 'lkm.db'])).code).toBe(13);
    const plain = await run([...rekey, '--plain'], { LKM_MASTER_KEY_FILE: file });
    expect(JSON.parse(plain.stdout)).toEqual({ secrets: 'plain', written: 1 });
    expect((await run(['products', 'list', '--db', 'lkm.db'])).code).toBe(0);
  });

  it.each([[[]], [['--plain', '--new-key-file', 'master.key']]])('is told one thing: %j', async (options) => {
    const { run } = inFolder();
    await run(create);
    expect((await run(['db', 'rekey', '--db', 'lkm.db', ...options])).code).toBe(2);
  });
});
