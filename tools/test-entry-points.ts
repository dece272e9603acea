import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Installs the packed package as its users do, and imports its entry points on every line of Node.js that is maintained, each
// from the package `node` of npm. `npm run test:entry-points` builds first; it needs the registry.

using temporary = mkdtempDisposableSync(join(tmpdir(), 'lkm-entry-points-'));
const folder = temporary.path;
run('.', 'npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder);
const [tarball = ''] = globSync('*.tgz', { cwd: folder });
const app = projectIn('app', ['lkm', join(folder, tarball)]);
copyFileSync('test/support/entry-point-program.mjs', join(app, 'program.mjs'));
for (const line of ['22', '24', '26']) {
  const node = projectIn(`node-${line}`, ['node', line]);
  run(app, join(node, 'node_modules/.bin/node'), 'program.mjs');
}

/** A project with one dependency, installed by npm. */
function projectIn(name: string, [dependency, version]: readonly [name: string, version: string]): string {
  const project = join(folder, name);
  mkdirSync(project);
  const dependencies = { [dependency]: version };
  const manifest = { private: true, type: 'module', allowScripts: { node: true }, dependencies };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  run(project, 'npm', 'install', '--silent', '--no-audit', '--no-fund');
  return project;
}

function run(cwd: string, command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
}
