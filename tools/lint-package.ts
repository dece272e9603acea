import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Packs the package as npm would publish it, and checks that tarball: publint compares package.json with the files in
// it, attw resolves the types of each entry point. `npm run lint:package` builds first.

const folder = mkdtempSync(join(tmpdir(), 'lkm-package-'));
try {
  process.exitCode = lint();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function lint(): number {
  run('npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder);
  const [name = ''] = globSync('*.tgz', { cwd: folder });
  const tarball = join(folder, name);
  const isPublishable = run('node_modules/.bin/publint', 'run', tarball, '--strict');
  // The package has ES modules only, and no types for JSON.
  const options = ['--profile', 'esm-only', '--exclude-entrypoints', './openapi.json', './package.json'];
  const hasTypes = run('node_modules/.bin/attw', tarball, '--no-emoji', ...options);
  return isPublishable && hasTypes ? 0 : 1;
}

function run(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    return true;
  } catch {
    return false;
  }
}
