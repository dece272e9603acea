import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, globSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../cli/fake-io.ts';

it('keeps its compiled code in the cache folder of the user, and in no folder whose path is relative', () => {
  const [HOME, cwd] = [tempFolder(), tempFolder()];
  const lkm = (env: Readonly<Record<string, string>>) =>
    execFileSync(process.execPath, [resolve('bin/lkm.js'), '--help'], { cwd, env, encoding: 'utf8' });
  const printed = lkm({ HOME, XDG_CACHE_HOME: 'cache' });
  expect(readdirSync(cwd)).toEqual([]);
  expect(globSync('.cache/lkm/**/*', { cwd: HOME }).length).toBeGreaterThan(3);
  expect(lkm({ HOME })).toBe(printed);
});

it('loads the network and the server with the command that uses them', () => {
  const bundle = 'dist/bundle';
  const chunkOf = (name: string) =>
    readdirSync(bundle).find((file) => file.startsWith(`${name}-`) && file.endsWith('.cjs'));
  const spy = `data:text/javascript,${encodeURIComponent(
    "import { registerHooks } from 'node:module'; import { writeSync } from 'node:fs';" +
      'registerHooks({ load: (url, context, next) => (writeSync(2, url + "\\n"), next(url, context)) });',
  )}`;
  const loadedBy = (...argv: readonly string[]) => {
    const script = `"$@" 2>&1 >/dev/null || true`;
    const command = [process.execPath, '--import', spy, 'bin/lkm.js', ...argv];
    const env = { HOME: tempFolder(), LKM_TOKEN: 'lkm_admin_secret' };
    return execFileSync('/bin/sh', ['-c', script, '_', ...command], { env, encoding: 'utf8' });
  };
  const [undici, runtime] = [String(chunkOf('undici')), String(chunkOf('runtime'))];
  const uses = (text: string) => [text.includes(undici), text.includes(runtime)];
  expect(uses(loadedBy('--version'))).toEqual([false, false]);
  expect(uses(loadedBy('keys', '--help'))).toEqual([false, false]);
  expect(uses(loadedBy('products', 'list', '--db', join(tempFolder(), 'lkm.db'), '--create'))).toEqual([false, true]);
  const refused = ['products', 'list', '--base-url', 'http://127.0.0.1:9', '--max-retries', '0'];
  expect(uses(loadedBy(...refused))).toEqual([true, false]);
});

// Only root can become a number that has no name.
it.skipIf(process.getuid?.() !== 0)('runs as a number without a name, with and without a home folder', () => {
  const folder = tempFolder();
  chmodSync(folder, 0o777);
  const lkm = (env: Readonly<Record<string, string>>, ...argv: readonly string[]) => {
    const how = { cwd: folder, env, uid: 54_321, gid: 54_321, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [resolve('bin/lkm.js'), ...argv], how);
    return { status, said: `${stdout}${stderr}` };
  };
  for (const env of [{}, { HOME: '' }, { HOME: 'relative' }]) {
    expect(lkm(env, '--version')).toEqual({ status: 0, said: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(lkm(env, 'config', 'path')).toMatchObject({ status: 13, said: expect.stringContaining('LKM_CONFIG_DIR') });
    expect(lkm({ ...env, LKM_CONFIG_DIR: '/c' }, 'config', 'path')).toEqual({ status: 0, said: '/c/config.json\n' });
  }
  expect(lkm({ HOME: '/h' }, 'config', 'path')).toEqual({ status: 0, said: '/h/.config/lkm/config.json\n' });
});
