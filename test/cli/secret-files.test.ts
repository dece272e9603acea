import { chmodSync, mkdirSync, rmSync, type Stats, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkPrivate } from '../../src/cli/config/files.ts';
import { lkm, type Surroundings, tempFolder } from './fake-io.ts';
import { customer, listed, scriptedService } from './scripted-service.ts';

/** A file as the system describes it. */
const file = (owner: number, gid: number, mode: number) =>
  ({ uid: owner, gid, mode: 0o100000 | mode, isFile: () => true }) as Stats;

describe('a file that holds a secret', () => {
  const process = { cwd: '/', uid: 1000, groups: [1000, 2000] };

  it.each<[mode: number, owner: number, gid: number]>([
    [0o600, 1000, 1000],
    [0o400, 0, 0],
    [0o440, 0, 1000],
    [0o640, 0, 1000],
    [0o440, 0, 2000],
  ])('of mode %o, owner %i and group %i is private to process 1000 in the groups 1000 and 2000', (mode, owner, gid) => {
    expect(() => checkPrivate(file(owner, gid, mode), 'f', process)).not.toThrow();
  });

  it.each<[mode: number, owner: number, gid: number, says: string]>([
    [0o440, 1000, 1000, 'others can read it'],
    [0o440, 0, 3000, 'others can read it'],
    [0o444, 0, 1000, 'others can read it'],
    [0o660, 0, 1000, 'others can write it'],
    [0o620, 0, 1000, 'others can write it'],
    [0o602, 1000, 1000, 'others can write it'],
    [0o440, 1001, 1000, 'others can read it'],
    [0o400, 1001, 1000, 'belongs to another user'],
  ])('of mode %o, owner %i and group %i is not', (mode, owner, gid, says) => {
    expect(() => checkPrivate(file(owner, gid, mode), 'f', process)).toThrow(says);
  });

  it('is to be closed by its owner or root, and by nobody else', () => {
    const advice = (owner: number, uid: number) => {
      try {
        checkPrivate(file(owner, 3000, 0o444), 'f', { ...process, uid });
        return [];
      } catch (error) {
        return error instanceof Error && 'hints' in error ? error.hints : [];
      }
    };
    const close = [['Close it:', 'chmod 600 /f']];
    expect([advice(1000, 1000), advice(1000, 0)]).toEqual([close, close]);
    expect(advice(0, 1000)).toEqual([expect.stringMatching(/0440 of root and a group of this user/)]);
  });
});

describe('a token file that all can read', () => {
  const token = (mode: number, folder = tempFolder()) => {
    const path = join(folder, 'token');
    writeFileSync(path, 'lkm_admin_secret');
    chmodSync(path, mode);
    return path;
  };
  const list = async (path: string, words: readonly string[] = [], surroundings: Surroundings = {}) => {
    const { fetch, seen } = scriptedService(listed([customer('cus_1', 'Ada')]));
    const argv = ['customers', 'list', '--base-url', 'https://x.example', '--token-file', path, ...words];
    const { code, stderr } = await lkm(argv, { ...surroundings, fetch });
    return { code, stderr, sent: seen.length };
  };
  const warning = /^warning: \S+ holds a secret, and other users can read it\n$/;
  const taken = { code: 0, stderr: expect.stringMatching(warning), sent: 1 };

  it('is taken with a warning where that is allowed, and never one that others can write', async () => {
    const env = { LKM_ALLOW_READABLE_SECRETS: '1' };
    expect(await list(token(0o644))).toMatchObject({ code: 13, sent: 0 });
    expect(await list(token(0o644), ['--allow-readable-secrets'])).toEqual(taken);
    expect(await list(token(0o444), [], { env })).toEqual(taken);
    expect(await list(token(0o644), [], { env: { LKM_ALLOW_READABLE_SECRETS: 'off' } })).toMatchObject({ code: 13 });
    for (const mode of [0o664, 0o646, 0o666]) expect(await list(token(mode), [], { env })).toMatchObject({ code: 13 });
    expect(await list(token(0o600), [], { env })).toEqual({ code: 0, stderr: '', sent: 1 });
  });

  // Only root can make such a folder.
  it.skipIf(process.getuid?.() !== 0)('is taken with a warning from where containers mount secrets', async () => {
    const mount = `/run/secrets/lkm-test-${process.pid}`;
    const data = join(mount, '..2026_11_28');
    mkdirSync(data, { recursive: true });
    onTestFinished(() => rmSync(mount, { recursive: true }));
    token(0o444, data);
    symlinkSync('..2026_11_28', join(mount, '..data'));
    symlinkSync('..data/token', join(mount, 'token'));
    const as = { uid: 1000 };
    expect(await list(join(mount, 'token'), [], as)).toEqual(taken);
    const link = join(tempFolder(), 'link');
    symlinkSync(join(mount, 'token'), link);
    expect(await list(link, [], as)).toEqual(taken);
    chmodSync(join(data, 'token'), 0o464);
    expect(await list(join(mount, 'token'), [], as)).toMatchObject({ code: 13 });
  });
});
