import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keyringOf } from '../../src/cli/config/keyring.ts';
import { lkm, tempFolder } from './fake-io.ts';
import { scriptedService, self } from './scripted-service.ts';

const SHOP = 'https://shop.example';
const TOKEN = 'lkm_scoped_canary';

/** Keeps what stdin says in a file per entry, and writes down its arguments, as `secret-tool` would be called. */
const works = `
test -e "$FOLDER/locked" && exit 1
echo "$@" >> "$FOLDER/arguments"
for entry do :; done
case "$1" in
  store) cat > "$FOLDER/$entry.secret" ;;
  lookup) cat "$FOLDER/$entry.secret" 2>/dev/null ;;
  clear) rm "$FOLDER/$entry.secret" ;;
esac`;

/** A home with a program of the keyring, whose script is given; none without. */
function home(script?: string) {
  const cwd = tempFolder();
  if (script !== undefined) {
    writeFileSync(join(cwd, 'secret-tool'), `#!/bin/sh\nFOLDER='${cwd}'\nPATH=/bin:/usr/bin\n${script}\n`);
    chmodSync(join(cwd, 'secret-tool'), 0o755);
  }
  const file = join(cwd, '.config', 'lkm', 'config.json');
  const run = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { fetch, seen } = scriptedService(self);
    return lkm(argv, { cwd, fetch, stdin: TOKEN, env: { PATH: cwd, ...env } }).then((ran) => ({ ...ran, seen }));
  };
  return {
    run,
    login: (...more: readonly string[]) => run(['login', '--base-url', SHOP, '--with-token', ...more]),
    read: (name: string) => readFileSync(join(cwd, name), 'utf8'),
    config: () => readFileSync(file, 'utf8'),
    profile: () => JSON.parse(readFileSync(file, 'utf8')).profiles['shop.example'],
    lock: () => writeFileSync(join(cwd, 'locked'), ''),
    secretOf: (entry: string) => join(cwd, `${entry}.secret`),
  };
}

describe('with a keyring', () => {
  it('a token is there and nowhere else, and is used from there', async () => {
    const { login, run, config, profile, read } = home(works);
    const { code, stdout, stderr } = await login();
    expect(code).toBe(0);
    expect(stderr).toContain("its token is in the system's keyring\n");
    expect([stdout, stderr, config(), read('arguments')].filter((text) => text.includes(TOKEN))).toEqual([]);
    expect(profile()).toEqual({ baseUrl: SHOP, token: null, keyring: expect.stringMatching(/^[\w-]{36}$/) });
    const status = await run(['auth', 'status', '--json']);
    expect(status.seen.map(({ authorization }) => authorization)).toEqual([`Bearer ${TOKEN}`]);
    expect(JSON.parse(status.stdout).tokenFrom).toBe('profile shop.example, in the keyring');
  });

  it('a token is not left there when its profile cannot be stored', async () => {
    const { login, run, read, secretOf } = home(works);
    await login();
    const stored = () => [...new Set(read('arguments').match(/[\w-]{36}(?=\n)/g))];
    const argv = ['login', '--base-url', SHOP, '--with-token', '-p', 'other'];
    const { code, stderr } = await run(argv, { LKM_CONFIG_DIR: '/dev/null/lkm' });
    expect({ code, stderr }).toMatchObject({ code: 13, stderr: expect.stringContaining('cannot write') });
    expect(stored()).toHaveLength(2);
    expect(stored().filter((entry) => existsSync(secretOf(entry)))).toEqual([stored()[0]]);
  });

  it('logging out or moving the token into the file takes it out of it', async () => {
    const { login, run, profile, secretOf } = home(works);
    for (const leave of [() => run(['logout']), () => login('--insecure-storage')]) {
      await login();
      const secret = secretOf(profile().keyring);
      expect(existsSync(secret)).toBe(true);
      expect((await leave()).stderr).not.toContain('keyring');
      expect(existsSync(secret)).toBe(false);
    }
    expect(profile()).toEqual({ baseUrl: SHOP, token: TOKEN });
  });

  it('says what to do when it no longer gives the token, and when it keeps what it should forget', async () => {
    const { login, run, lock } = home(works);
    await login();
    lock();
    const { code, stderr, seen } = await run(['auth', 'status']);
    expect({ code, requests: seen.length }).toEqual({ code: 4, requests: 0 });
    expect(stderr).toMatch(/does not give the token of profile shop\.example.*lkm auth login -p shop\.example/s);
    expect((await run(['logout'])).stderr).toContain('the keyring did not let its token go');
  });
});

it.each([
  ['absent', undefined],
  ['failing', 'echo "Cannot autolaunch D-Bus" >&2; exit 1'],
  ['saying yes and keeping nothing', 'exit 0'],
  ['hanging', 'exec sleep 60'],
])('where the keyring is %s, the token goes into the file and this is said', { timeout: 20_000 }, async (_, script) => {
  const { login, run, profile } = home(script);
  const { code, stderr } = await login();
  expect(code).toBe(0);
  expect(stderr).toMatch(/its token is in \S+config\.json, which only you can read: no keyring took it\n/);
  expect(profile()).toEqual({ baseUrl: SHOP, token: TOKEN });
  expect((await run(['auth', 'status'])).code).toBe(0);
});

it('on macOS the token is a line of stdin, never an argument', () => {
  const folder = tempFolder();
  const script = `#!/bin/sh
PATH=/bin:/usr/bin
echo "$@" >> '${folder}/arguments'
case "$1" in
  -i) cat > '${folder}/commands' ;;
  find-generic-password) echo '${TOKEN}' ;;
esac
`;
  writeFileSync(join(folder, 'security'), script, { mode: 0o755 });
  const keyring = keyringOf({ platform: 'darwin', env: { PATH: folder } });
  expect(keyring?.store('entry-1', TOKEN, SHOP)).toBe(true);
  const hex = Buffer.from(TOKEN).toString('hex');
  expect(readFileSync(join(folder, 'commands'), 'utf8')).toBe(
    `add-generic-password -U -s lkm -a entry-1 -l "lkm ${SHOP}" -X ${hex}\n`,
  );
  expect(readFileSync(join(folder, 'arguments'), 'utf8')).toBe('-i\nfind-generic-password -s lkm -a entry-1 -w\n');
});

it('is not used on Windows, where no program of the system takes a secret on stdin', () => {
  expect(keyringOf({ platform: 'win32', env: {} })).toBeNull();
});
