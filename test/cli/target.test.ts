import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addProfile } from '../../src/cli/config/profiles.ts';
import { fakeIo, lkm, tempFolder } from './fake-io.ts';
import { listed, PRODUCT, scriptedService } from './scripted-service.ts';

const list = ['customers', 'list'];
const acme = { baseUrl: 'https://acme.example/api', token: 'token_of_acme' };
const other = { baseUrl: 'https://other.example', token: 'token_of_other' };

/** Runs `customers list` and says which service was asked with which token. */
async function asked(options: string, env: Record<string, string> = {}, stdin = '') {
  const cwd = tempFolder();
  const { io } = fakeIo({ cwd });
  await addProfile(io, 'acme', acme);
  await addProfile(io, 'other', other);
  writeFileSync(join(cwd, 'token.txt'), 'token_of_file\n', { mode: 0o600 });
  const urls: string[] = [];
  const { fetch, seen } = scriptedService(listed([]));
  const remember = (request: Request) => {
    urls.push(request.url);
    return fetch(request);
  };
  execFileSync('mkfifo', ['-m', '644', join(cwd, 'pipe')]);
  const writer = spawn('sh', ['-c', 'echo token_of_pipe >pipe'], { cwd });
  const words = options.split(' ').filter(Boolean);
  const { code, stderr } = await lkm([...list, ...words, '-q'], { cwd, env, stdin, fetch: remember });
  writer.kill();
  const token = seen[0]?.authorization?.replace('Bearer ', '');
  return { code, url: urls[0]?.replace('/customer', ''), token, stderr };
}

const X = 'https://x.example';
const Y = 'https://y.example';

describe('the service and its token', () => {
  const both = { LKM_BASE_URL: X, LKM_TOKEN: 'env' };
  it.each<[from: string, options: string, env: Record<string, string>, url: string, token: string]>([
    ['the current profile', '', {}, acme.baseUrl, acme.token],
    ['LKM_PROFILE', '', { LKM_PROFILE: 'other' }, other.baseUrl, other.token],
    ['--profile, before the environment', '-p other', both, other.baseUrl, other.token],
    ['the environment, before the profile', '', both, X, 'env'],
    ['--base-url, before LKM_BASE_URL', `--base-url ${Y}`, both, Y, 'env'],
    ['--base-url, before LKM_DB', `--base-url ${Y}`, { LKM_DB: 'lkm.db', LKM_TOKEN: 'env' }, Y, 'env'],
    ['--token-file', '--token-file token.txt -p other', { LKM_TOKEN: 'env' }, other.baseUrl, 'token_of_file'],
    ['LKM_TOKEN_FILE', '', { LKM_TOKEN_FILE: 'token.txt' }, acme.baseUrl, 'token_of_file'],
    ['the same origin', '--base-url https://acme.example/v2', {}, 'https://acme.example/v2', acme.token],
    ['a name and a port', '--base-url lkm.example:8443', both, 'https://lkm.example:8443', 'env'],
    ['a port of this machine', '--base-url localhost:4747/api', both, 'http://localhost:4747/api', 'env'],
    ['stdin', '--token-file -', {}, acme.baseUrl, 'token_of_stdin'],
    ['a pipe', '--token-file pipe', {}, acme.baseUrl, 'token_of_pipe'],
  ])('come from %s', async (_, options, env, url, token) => {
    expect(await asked(options, env, 'token_of_stdin\n')).toEqual({ code: 0, url, token, stderr: '' });
  });

  it.each<[options: string, env: Record<string, string>, code: number, says: string]>([
    ['--db x.db --base-url https://x.example', {}, 2, '--db and --base-url name two services'],
    ['', { LKM_DB: 'x.db', LKM_BASE_URL: X }, 2, 'LKM_DB and LKM_BASE_URL name two services; set one'],
    ['', { LKM_TOKEN: 'a', LKM_TOKEN_FILE: 'token.txt' }, 2, 'LKM_TOKEN and LKM_TOKEN_FILE are both set'],
    ['-p nobody', {}, 2, "there is no profile 'nobody'\n  Stored: acme, other"],
    ['-p constructor', {}, 2, "there is no profile 'constructor'"],
    ['--base-url http://x.example', { LKM_TOKEN: 'env' }, 2, 'must begin with https://'],
    ['--token-file nope', {}, 13, 'cannot read nope: no such file or folder (ENOENT)'],
    ['--token-file .', {}, 13, 'cannot read .: it is a folder (EISDIR)'],
    [`--base-url ${X}`, {}, 4, `of profile acme belongs to https://acme.example and is not sent to ${X}`],
    ['--base-url', { LKM_TOKEN: 'env' }, 2, "--base-url '-q' is not an address"],
    ['', { LKM_BASE_URL: 'our licence server' }, 2, "LKM_BASE_URL 'our licence server' is not an address\n  Write:  "],
  ])('are refused: %s %j', async (options, env, code, says) => {
    const ran = await asked(options, env);
    expect(ran).toMatchObject({ code, url: undefined, stderr: expect.stringContaining(says) });
  });

  it('are missing: the error names the ways out', async () => {
    const none = await lkm(list);
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('  A service:    --base-url URL, with its'),
    });
    const { code, stderr } = await lkm(list, { env: { LKM_BASE_URL: X } });
    expect(code).toBe(4);
    expect(stderr).toContain(`no token for ${X}\n  In scripts:   export LKM_TOKEN=…\n`);
  });
});

describe('a database that is not there', () => {
  it.each([
    ['products', 'list'],
    ['keys', 'create', '-P', PRODUCT],
  ])('is not made by lkm %s %s', async (...argv) => {
    const cwd = tempFolder();
    const { code, stderr } = await lkm([...argv, '--db', 'typo/lkm.db'], { cwd });
    expect(code).toBe(13);
    expect(stderr).toBe(
      `error: ${join(cwd, 'typo/lkm.db')} does not exist\n  Check the path of the database.\n  A new one:  --create\n`,
    );
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.each(['products list --create', 'db migrate', 'quickstart'])('is made by lkm %s', async (line) => {
    const cwd = tempFolder();
    expect((await lkm([...line.split(' '), '--db', 'new/lkm.db'], { cwd })).code).toBe(0);
    expect(existsSync(join(cwd, 'new/lkm.db'))).toBe(true);
  });
});

describe('the configuration', () => {
  const withConfig = (text: string) => {
    const cwd = tempFolder();
    const file = join(cwd, '.config/lkm/config.json');
    mkdirSync(join(cwd, '.config/lkm'), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
    return { cwd, file };
  };

  it.each([
    ['that is not JSON', '{"version":1,', 'cannot be read as JSON'],
    ['of another form', '{"version":1,"profiles":[1]}', 'does not have the form of a configuration'],
    ['that is empty', '', 'cannot be read as JSON'],
    ['of a newer lkm', '{"version":2}', 'was written by a newer lkm'],
  ])('is left alone when it is one %s', async (_, text, says) => {
    const { cwd, file } = withConfig(text);
    const { code, stderr } = await lkm(list, { cwd });
    expect(code).toBe(13);
    expect(stderr).toContain(`${file} ${says}`);
    await expect(addProfile(fakeIo({ cwd }).io, 'acme', acme)).rejects.toThrow(says);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it.each([
    ['a configuration', '.config/lkm/config.json', []],
    ['a token file', 'token.txt', ['--token-file', 'token.txt', '--base-url', 'https://x.example']],
  ])('is refused when it is %s that others can read, with the command that closes it', async (_, name, argv) => {
    const { cwd } = withConfig('{"version":1,"profiles":{}}');
    writeFileSync(join(cwd, 'token.txt'), 'token\n', { mode: 0o600 });
    chmodSync(join(cwd, name), 0o640);
    const { fetch, seen } = scriptedService(listed([]));
    const ran = await lkm([...list, ...argv], { cwd, fetch, env: argv.length > 0 ? {} : { LKM_TOKEN: 'x' } });
    expect({ code: ran.code, seen }).toEqual({ code: 13, seen: [] });
    expect(ran.stderr).toContain('holds a secret, and others can read it');
    const command = /Close it: {2}(.*)\n/.exec(ran.stderr)?.[1] ?? '';
    execFileSync('sh', ['-c', command]);
    expect((await lkm([...list, ...argv], { cwd, fetch })).stderr).not.toContain('others can read it');
  });

  it('may be a link to a file elsewhere, which stays one', async () => {
    const { cwd, file } = withConfig('');
    const elsewhere = join(cwd, 'dotfiles.json');
    writeFileSync(elsewhere, '{"version":1,"profiles":{}}', { mode: 0o600 });
    rmSync(file);
    symlinkSync(elsewhere, file);
    await addProfile(fakeIo({ cwd }).io, 'acme', acme);
    expect(JSON.parse(readFileSync(elsewhere, 'utf8')).profiles).toEqual({ acme });
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(statSync(elsewhere).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['a folder', (file: string) => mkdirSync(file)],
    ['a FIFO that nobody writes to', (file: string) => void execFileSync('mkfifo', ['-m', '600', file])],
  ])('is no file: %s', async (_, make) => {
    const { cwd, file } = withConfig('');
    rmSync(file);
    make(file);
    const { code, stderr } = await lkm(['auth', 'list'], { cwd });
    expect([code, stderr]).toEqual([13, expect.stringContaining('config.json is not a file')]);
  });

  it('keeps what it does not know, and gives every profile a name of its own', async () => {
    const { cwd, file } = withConfig('{"version":1,"theme":"dark","profiles":{}}');
    const { io } = fakeIo({ cwd });
    for (const name of ['acme', 'acme-2', 'acme-3']) expect(await addProfile(io, 'acme', acme)).toBe(name);
    const profiles = { acme, 'acme-2': acme, 'acme-3': acme };
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      version: 1,
      theme: 'dark',
      currentProfile: 'acme',
      profiles,
    });
  });
});
