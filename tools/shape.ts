import { execFileSync } from 'node:child_process';
import { posix } from 'node:path';

// npm run shape [-- REVISION…]
//
// Prints lines and files of each folder, and how long the files of src are: a column for each git revision, and one for
// the files of the working tree that git knows.

const folders = ['src', 'test', 'faults', 'bench', 'gate', 'mutants', 'tools'];
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });

/** Lines and files of each folder; `git grep -c` counts the lines that match in each file. */
function figuresOf(revision?: string): Readonly<Record<string, string>> {
  const where = [...(revision === undefined ? [] : [revision]), '--', ...folders.map((folder) => `${folder}/*.ts`)];
  const rows = git('grep', '-c', '', ...where).trimEnd();
  const files = rows.split('\n').map((row) => row.split(':').slice(-2));
  const inside = (folder: string) =>
    files.filter(([path]) => path?.startsWith(`${folder}/`)).map(([, lines]) => Number(lines));
  const sorted = inside('src').sort((a, b) => a - b);
  const quantile = (share: number) => String(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  const paths = files.map(([path = '']) => path).filter((path) => path.startsWith('src/'));
  const rooms = new Set(paths.map((path) => posix.dirname(path).split('/').slice(0, 3).join('/')));
  const counted = [...[...rooms].sort(), ...folders].map((folder) => {
    const lines = inside(folder);
    return [folder, `${lines.reduce((sum, count) => sum + count, 0)} in ${lines.length}`];
  });
  const ofFiles = { median: quantile(0.5), '90th percentile': quantile(0.9), longest: quantile(1) };
  return { ...Object.fromEntries(counted), 'lines of a file of src:': '', ...ofFiles };
}

const revisions = process.argv.slice(2);
const columns = [...revisions.map((one) => figuresOf(one)), figuresOf()];
const print = (label: string, cells: readonly string[]) =>
  process.stdout.write(`${label.padEnd(32)}${cells.map((cell) => cell.padStart(18)).join('')}\n`);
print('', [...revisions.map((revision) => revision.slice(0, 16)), 'working tree']);
for (const label of new Set(columns.flatMap(Object.keys))) {
  const cells = columns.map((figures) => figures[label] ?? '');
  print(label, cells);
}
