import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

test('with --debug a stack trace of the built command names lines of the source', async () => {
  const HOME = mkdtempSync(join(tmpdir(), 'lkm-test-'));
  const argv = ['bin/lkm.js', 'customers', 'list', '--base-url', 'http://127.0.0.1:6000', '--max-retries', '0'];
  const traceOf = async (...more: readonly string[]) => {
    const env = { PATH: process.env.PATH, HOME, LKM_TOKEN: 'lkm_admin_secret' };
    const failed: unknown = await run(process.execPath, [...argv, ...more], { env }).catch((error: unknown) => error);
    return failed instanceof Error && 'stderr' in failed ? String(failed.stderr) : '';
  };
  expect(await traceOf('--debug')).toMatch(/at (?:async )?call \(.*\/src\/client\/call\.ts:\d+:\d+\)/);
  expect(await traceOf()).toContain('cannot connect to 127.0.0.1:6000');
});

test('nearly all code of lkm has a source map, with relative paths only', () => {
  const maps = globSync('dist/**/*.{js,cjs}.map').map((file) => ({
    folder: dirname(file),
    sources: (JSON.parse(readFileSync(file, 'utf8')) as { sources: readonly string[] }).sources,
  }));
  expect(maps.flatMap(({ sources }) => sources).filter((source) => !source.startsWith('..'))).toEqual([]);
  const mapped = new Set(maps.flatMap(({ folder, sources }) => sources.map((source) => join(folder, source))));
  // Types leave no code.
  const own = globSync('src/**/*.ts');
  expect(own.filter((file) => mapped.has(file)).length).toBeGreaterThan(own.length * 0.8);
});
