import { execFileSync } from 'node:child_process';
import { posix } from 'node:path';

// npm run shape [-- REVISION…]
//
// Prints lines and files of each folder, and how long the files of src are: a column for each git revision, and one for
// the files of the working tree that git knows.

const folders = ['src', 'test', 'faults', 'bench', 'gate', 'mutants', 'tools'];
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });

/** The number of lines of each TypeScript file, by its path; `git grep -c` counts those that match. */
function linesOf(revision: string | null): Map<string, number> {
  const where = revision === null ? [] : [revision];
  const counts = git('grep', '-c', '', ...where, '--', ...folders.map((folder) => `${folder}/*.ts`));
  const rows = counts
    .trimEnd()
    .split('\n')
    .map((row) => row.split(':').reverse());
  return new Map(rows.map(([lines, path = '']) => [path, Number(lines)]));
}

function figuresOf(files: ReadonlyMap<string, number>): Readonly<Record<string, string>> {
  const inside = (folder: string) => [...files].filter(([path]) => path.startsWith(`${folder}/`));
  const sorted = inside('src')
    .map(([, lines]) => lines)
    .sort((a, b) => a - b);
  const quantile = (share: number) => String(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  const rooms = new Set(inside('src').map(([path]) => posix.dirname(path).split('/').slice(0, 3).join('/')));
  const counted = [...[...rooms].sort(), ...folders].map((folder) => {
    const found = inside(folder);
    const lines = found.reduce((sum, [, count]) => sum + count, 0);
    return [folder, `${lines} in ${found.length}`];
  });
  return {
    ...Object.fromEntries(counted),
    'lines of a file of src: median': quantile(0.5),
    '90th percentile': quantile(0.9),
    longest: quantile(1),
  };
}

const revisions = process.argv.slice(2);
const columns = [...revisions, null].map((revision) => figuresOf(linesOf(revision)));
const labels = [...new Set(columns.flatMap(Object.keys))];
const print = (label: string, cells: readonly string[]) =>
  process.stdout.write(`${label.padEnd(32)}${cells.map((cell) => cell.padStart(18)).join('')}\n`);
print('', [...revisions.map((revision) => revision.slice(0, 16)), 'working tree']);
for (const label of labels) {
  const cells = columns.map((figures) => figures[label] ?? '');
  print(label, cells);
}
