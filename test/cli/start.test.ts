import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { tempFolder } from './fake-io.ts';

const root = join(import.meta.dirname, '../..');
const main = join(root, 'src/cli/main.ts');
const env = { PATH: process.env.PATH, HOME: tempFolder() };
const node = (args: readonly string[]) => promisify(execFile)(process.execPath, args, { env });

/** Prints on stderr every module that is loaded. */
const spy = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  registerHooks({ load: (url, context, next) => (writeSync(2, url + '\\n'), next(url, context)) });
`)}`;

/** The packages of the modules that were loaded. */
const packagesIn = (stderr: string): string[] => [
  ...new Set(stderr.split('\n').flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])),
];

describe('start-up', () => {
  it.each([
    ['--version', []],
    ['--help', ['chalk']],
  ])('loads metadata alone for %s, and what colours it', async (option, packages) => {
    const { stderr } = await node(['--import', spy, main, option]);
    const loaded = stderr.split('\n').filter((url) => url.startsWith('file:'));
    expect(loaded.length).toBeGreaterThan(0);
    expect(packagesIn(stderr)).toEqual(packages);
    expect(loaded.filter((url) => /\/src\/(?!cli\/)|\/src\/cli\/commands\//.test(url))).toEqual([]);
  });

  it('loads commander and metadata for the help of a resource', async () => {
    const { stderr } = await node(['--import', spy, main, 'keys', '--help']);
    expect(packagesIn(stderr)).toEqual(['commander', 'chalk']);
  });

  it.each([
    [[], []],
    [['--jq', '.path'], ['jq-wasm']],
  ])('loads jq where something is filtered, and nowhere else: %j', async (option, jq) => {
    const { stderr } = await node(['--import', spy, main, 'config', 'path', ...option]);
    expect(packagesIn(stderr).filter((name) => name.includes('jq'))).toEqual(jq);
  });

  it('refuses an old Node.js with a sentence to act on', async () => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`;
    const ran = node(['--import', `data:text/javascript,${pretend}`, join(root, 'bin/lkm.js')]);
    await expect(ran).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'lkm needs Node.js 24.15 or newer; this is v20.20.2. ' +
        'Install it, or run it through npm in the checkout: npx lkm\n',
    });
  });

  it('ends quietly when its reader is gone', async () => {
    const script = `"${process.execPath}" "${main}" help formatting | true; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { env });
    expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
  });
});
