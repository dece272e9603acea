import { hash } from 'node:crypto';
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Coverage } from './cover.ts';
import type { Mutant } from './find.ts';
import type { Fate } from './try.ts';

const root = join(import.meta.dirname, '..');

/** Where a run keeps what it knows, so that it can be taken up again. Not for git. */
const folder = join(root, '.mutants');
const fatesFile = join(folder, 'fates.jsonl');

interface Line {
  readonly id: string;
  readonly fate: Fate;
  readonly tests: string;
}

/** What has become of each mutant so far, by id; undefined when it is to be tried, maybe again, by the tests of today. */
export function openRecord() {
  mkdirSync(folder, { recursive: true });
  const tests = fingerprint();
  const lines = existsSync(fatesFile) ? readFileSync(fatesFile, 'utf8').split('\n').filter(Boolean) : [];
  const known = lines
    .map((line): Line => JSON.parse(line))
    .filter((line) => line.fate === 'killed' || line.fate === 'timed out' || line.tests === tests);
  const fates = new Map(known.map(({ id, fate }) => [id, fate]));
  return {
    fateOf: (id: string): Fate | undefined => fates.get(id),
    add(id: string, fate: Fate): void {
      fates.set(id, fate);
      appendFileSync(fatesFile, `${JSON.stringify({ id, fate, tests } satisfies Line)}\n`);
    },
  };
}

/** Gives the coverage of these mutants by the tests of today, which is found out once. */
export async function keepCoverage(mutants: readonly Mutant[], find: () => Promise<Coverage>): Promise<Coverage> {
  const key = hash('sha256', JSON.stringify([fingerprint(), mutants.map(({ id }) => id)])).slice(0, 12);
  const file = join(folder, `coverage-${key}.json`);
  if (!existsSync(file)) writeFileSync(file, JSON.stringify(await find()));
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Of the tests and whatever else a test may read, but not of the sources: those are in the mutants' ids. */
function fingerprint(): string {
  const files = globSync('{test,faults}/**/*.ts', { cwd: root }).sort();
  const texts = files.map((file) => file + readFileSync(join(root, file), 'utf8'));
  return hash('sha256', texts.join('')).slice(0, 12);
}
