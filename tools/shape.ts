import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { measureShape, type SourceFile } from './measure-shape.ts';

// npm run shape [-- REVISION…]
//
// Prints figures about the source files in src: a column for each git revision, and one for the working tree.

const root = fileURLToPath(new URL('../', import.meta.url));
const columns = [...process.argv.slice(2).map(readRevision), readWorkingTree()];
const names = ['', ...process.argv.slice(2), 'working tree'];
const figures = columns.map(measureShape);
const labels = [...(figures[0]?.keys() ?? [])];
const rows = [names, ...labels.map((label) => [label, ...figures.map((column) => column.get(label) ?? '')])];
const widths = names.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
for (const row of rows) {
  const cells = row.map((cell, index) =>
    index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
  );
  process.stdout.write(`${cells.join('  ')}\n`);
}

function readWorkingTree(): SourceFile[] {
  const cwd = `${root}src`;
  const paths = globSync('**/*.ts', { cwd }).map((path) => path.replaceAll('\\', '/'));
  return paths.sort().map((path) => ({ path, text: readFileSync(`${cwd}/${path}`, 'utf8') }));
}

function readRevision(revision: string): SourceFile[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const commit = git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`).trim();
  const paths = git('ls-tree', '-r', '-z', '--name-only', commit, 'src/')
    .split('\0')
    .filter((path) => path.endsWith('.ts'));
  return paths.map((path) => ({ path: path.slice('src/'.length), text: git('show', `${commit}:${path}`) }));
}
