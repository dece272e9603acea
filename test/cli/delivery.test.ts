import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';
import { issued, KEY, listed, PRODUCT, remote, scriptedService } from './scripted-service.ts';

const create = ['keys', 'create', '-P', PRODUCT];
const main = join(import.meta.dirname, '../../src/cli/main.ts');

describe('an answer that stdout does not take', () => {
  it('is one line on stderr and 13 when the disk is full', async () => {
    const { fetch } = scriptedService(listed([]));
    const ran = await lkm(['customers', 'list', '--json'], { fetch, env: remote, stdout: 'ENOSPC' });
    expect(ran).toMatchObject({ code: 13, stdout: '' });
    expect(JSON.parse(ran.stderr).error).toMatchObject({ message: 'cannot write to stdout (ENOSPC)', exitCode: 13 });
  });

  it.each(['--version', '--help', 'help formatting', 'keys --help'])('is 13 for lkm %s', async (words) => {
    const { code, stderr } = await lkm(words.split(' '), { stdout: 'EIO' });
    expect({ code, stderr }).toEqual({ code: 13, stderr: 'error: cannot write to stdout (EIO)\n' });
  });

  it.each(['ENOSPC', 'EPIPE'] as const)('is given again by the next run of the same command: %s', async (stdout) => {
    const cwd = tempFolder();
    const { fetch, seen } = scriptedService(issued);
    const run = (surroundings: object) => lkm(create, { cwd, fetch, env: remote, ...surroundings });
    const lost = await run({ stdout, pid: 7 });
    expect(lost.code).toBe(stdout === 'EPIPE' ? 0 : 13);
    expect(lost.stderr).toContain('lkm keys create');
    expect(await run({ pid: 8 })).toMatchObject({ code: 0, stdout: `${KEY}\n` });
    const [first, second] = seen.map(({ idempotencyKey }) => idempotencyKey);
    expect(second).toBe(first);
    await run({ pid: 9 });
    expect(seen[2]?.idempotencyKey).not.toBe(first);
  });

  it('is no failure of a list whose reader has enough', async () => {
    const { fetch } = scriptedService(listed([]));
    const ran = await lkm(['customers', 'list', '--json'], { fetch, env: remote, stdout: 'EPIPE' });
    expect(ran).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('names its idempotency key in the JSON form of the error', async () => {
    const { fetch, seen } = scriptedService(issued);
    const { stderr } = await lkm([...create, '--json'], { fetch, env: remote, stdout: 'ENOSPC' });
    expect(JSON.parse(stderr).error.idempotencyKey).toBe(seen[0]?.idempotencyKey);
  });
});

describe('in a shell', () => {
  /** Runs a script in which `lkm` is the command, on a database with a product. */
  async function shell(script: string): Promise<{ stdout: string; stderr: string }> {
    const cwd = tempFolder();
    const env = { LKM_DB: 'lkm.db' };
    const made = await lkm(['products', 'create', '--name', 'Engine Pro', '-q', '--create'], { cwd, env });
    return promisify(execFile)('bash', ['-c', `lkm() { "${process.execPath}" "${main}" "$@"; }\n${script}`], {
      cwd,
      env: { PATH: process.env.PATH, HOME: cwd, LKM_PRODUCT: made.stdout.trim(), ...env },
    });
  }

  it('prints the key that the full disk did not take when the command is run again', async () => {
    const { stdout, stderr } = await shell(
      'lkm keys create >/dev/full; echo "code $?"; A=$(lkm keys create); B=$(lkm keys create); echo "$A $B"',
    );
    const [code, keys = ''] = stdout.split('\n');
    expect(code).toBe('code 13');
    expect(stderr).toMatch(/^error: cannot write to stdout \(ENOSPC\)\n {2}The service did its part/);
    expect(stderr).toContain('repeating the call');
    const [first, second] = keys.split(' ');
    expect(second).not.toBe(first);
  });

  it('prints the key that nobody read when the command is run again', async () => {
    const { stdout, stderr } = await shell(
      `lkm keys create | true; echo "code $PIPESTATUS"; lkm keys create -v | wc -l; lkm keys create -v -q | wc -l`,
    );
    expect(stdout).toBe('code 0\n1\n1\n');
    expect(stderr).toContain('warning: the reader of stdout has gone without the answer');
    const used = [...stderr.matchAll(/^POST .* key (\S+)$/gm)].map(([, key]) => key);
    expect(used).toHaveLength(2);
    expect(stderr).toContain(`--idempotency-key ${used[0]}\n`);
    expect(used[1]).not.toBe(used[0]);
  });

  it('is told in one line that stdout cannot be written', async () => {
    const { stdout, stderr } = await shell(
      'lkm products list >/dev/full; echo $?; lkm products list </dev/null 1</dev/null; lkm --version >/dev/full; echo $?',
    );
    expect({ stdout, stderr }).toEqual({
      stdout: '13\n13\n',
      stderr: ['ENOSPC', 'EBADF', 'ENOSPC'].map((code) => `error: cannot write to stdout (${code})\n`).join(''),
    });
  });

  it('goes on where stderr cannot be written', async () => {
    const { stdout } = await shell(
      'lkm keys create 2>/dev/full | wc -l; lkm keys create 2</dev/null | wc -l; lkm keys nonsense 2>/dev/full; echo $?',
    );
    expect(stdout).toBe('1\n1\n2\n');
  });
});
