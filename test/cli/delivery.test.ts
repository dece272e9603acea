import { describe, expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';
import { against, issued, KEY, listed, PRODUCT, remote, scriptedService } from './scripted-service.ts';

const create = ['keys', 'create', '-P', PRODUCT];

describe('an answer that stdout does not take', () => {
  it('is one line on stderr and 13 when the disk is full', async () => {
    const ran = await against(['customers', 'list', '--json'], [listed([])], { stdout: 'ENOSPC' });
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
    const ran = await against(['customers', 'list', '--json'], [listed([])], { stdout: 'EPIPE' });
    expect(ran).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('names its idempotency key in the JSON form of the error', async () => {
    const { stderr, seen } = await against([...create, '--json'], [issued], { stdout: 'ENOSPC' });
    expect(JSON.parse(stderr).error.idempotencyKey).toBe(seen[0]?.idempotencyKey);
  });
});
