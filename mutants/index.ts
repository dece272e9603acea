import { spawnSync } from 'node:child_process';
import { globSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '../faults/random.ts';

// Changes the sources in small places with Stryker, one at a time, and runs the tests that reach them: each should fail. Ends
// with 1 when less than 85 % do. Without options it takes a sample of about 120 mutants.
//
//   npm run test:mutants -- --lines 400 --seed 7 --folder service --folder store

const { values: options } = parseArgs({
  options: {
    lines: { type: 'string', default: '400' },
    seed: { type: 'string', default: '20261121' },
    folder: { type: 'string', multiple: true, default: ['domain', 'service', 'store', 'server', 'client'] },
  },
});

/** How many lines of a file are taken together: mutants need an expression to be whole. */
const WINDOW = 6;

const settings = {
  mutate: sample(Number(options.lines), Number(options.seed)),
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'mutants/vitest.config.ts' },
  // Texts for people are no behaviour.
  mutator: { excludedMutations: ['StringLiteral'] },
  // Stryker would read it by an interface that TypeScript 7 does not have.
  tsconfigFile: 'none.json',
  reporters: ['progress-append-only', 'clear-text'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  coverageAnalysis: 'perTest',
  // A value that is made when a module is loaded is covered by all tests: each of its mutants would run them all.
  ignoreStatic: true,
  dryRunTimeoutMinutes: 30,
  timeoutMS: 30_000,
  tempDirName: '.mutants',
  thresholds: { high: 92, low: 85, break: 85 },
};
using folder = mkdtempDisposableSync(join(tmpdir(), 'lkm-mutants-'));
const config = join(folder.path, 'stryker.config.json');
writeFileSync(config, JSON.stringify(settings));
const { status } = spawnSync(process.execPath, ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run', config], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;

/** Windows of some lines, drawn from all files, as `src/domain/rate.ts:13-18`. */
function sample(lines: number, seed: number): string[] {
  const random = createRandom(seed);
  const windows = options.folder
    .flatMap((folder) => globSync(`src/${folder}/**/*.ts`).sort())
    .flatMap((file) => {
      const count = readFileSync(file, 'utf8').split('\n').length;
      return Array.from(
        { length: Math.ceil(count / WINDOW) },
        (_, at) => `${file}:${at * WINDOW + 1}-${(at + 1) * WINDOW}`,
      );
    });
  const ranked = windows.map((window) => ({ window, rank: random.below(2 ** 32) })).sort((a, b) => a.rank - b.rank);
  return ranked.slice(0, Math.ceil(lines / WINDOW)).map(({ window }) => window);
}
