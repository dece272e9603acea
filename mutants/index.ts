import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyCheckout, exitOnSignals } from '../gate/checkout.ts';
import { endUnavailable } from '../test/support/postgres-server.ts';
import accepted from './accepted.json' with { type: 'json' };
import { cover } from './cover.ts';
import { findMutants, type Mutant, sample } from './find.ts';
import { keepCoverage, openRecord } from './record.ts';
import { openBench } from './try.ts';

// Changes the sources in one small place at a time, and runs the tests that reach it: each should fail. Ends with 1 when
// too few do, or when one that does not has no reason in accepted.json. A run that is stopped goes on where it was.
//
//   npm run test:mutants                    a sample of all mutants
//   npm run test:mutants -- --count 400 --seed 7 --folder service --list

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '170' },
    seed: { type: 'string', default: '20261121' },
    folder: { type: 'string', multiple: true, default: ['domain', 'service', 'store', 'server', 'client'] },
    workers: { type: 'string', default: String(availableParallelism()) },
    /** Prints the sample, and tries none. */
    list: { type: 'boolean', default: false },
  },
});

exitOnSignals();
process.stdout.on('error', () => process.exit()); // `| head` has seen enough

/** The part of the mutants that the tests have to kill. */
const GOAL = 0.92;

const root = join(import.meta.dirname, '..');
const files = options.folder.flatMap((folder) => globSync(`src/${folder}/**/*.ts`, { cwd: root })).sort();
const all = files.flatMap((file) => findMutants(file, readFileSync(join(root, file), 'utf8')));
const chosen = sample(all, Number(options.count), Number(options.seed));
print(`${chosen.length} of ${all.length} mutants in ${files.length} files`);

if (options.list) for (const mutant of chosen) print(describe(mutant));
else await tryAll();

async function tryAll(): Promise<void> {
  const record = openRecord();
  const coverage = await keepCoverage(chosen, () => cover(chosen));
  const queue = chosen.filter(({ id }) => record.fateOf(id) === undefined);
  print(`${queue.length} to try`);
  await Promise.all(
    Array.from({ length: Math.min(queue.length, Number(options.workers)) }, async () => {
      using checkout = copyCheckout();
      await using bench = await openBench(checkout, coverage).catch(endUnavailable);
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const fate = await bench.attempt(mutant);
        record.add(mutant.id, fate);
        print(`${fate.padEnd(12)} ${describe(mutant)}`);
      }
    }),
  );
  const survivors = chosen.filter(({ id }) => ['survived', 'not reached'].includes(record.fateOf(id) ?? ''));
  const share = (chosen.length - survivors.length) / chosen.length;
  print(`\n${(share * 100).toFixed(1)} % of ${chosen.length} killed; those that were not:`);
  for (const mutant of survivors) print(`${describe(mutant)}\n    ${reasonFor(mutant) ?? 'NO REASON'}`);
  if (share < GOAL || survivors.some((mutant) => reasonFor(mutant) === undefined)) process.exitCode = 1;
}

/** Why a survivor is accepted. A mutant is known by its text, so that it survives a move of its file. */
function reasonFor(mutant: Mutant): string | undefined {
  const isIt = (one: (typeof accepted)[number]) =>
    one.code === mutant.code && one.before === mutant.before && one.after === mutant.text;
  return accepted.find(isIt)?.reason;
}

function describe({ file, line, before, text }: Mutant): string {
  const short = (code: string) => code.replace(/\s+/g, ' ').slice(0, 70);
  return `${file}:${line}  ${short(before)}  →  ${short(text)}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
