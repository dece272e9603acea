import { createHash } from 'node:crypto';
import { appendFileSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Coverage } from './cover.ts';
import type { Fate } from './try.ts';

const root = join(import.meta.dirname, '..');

/** Where a run keeps what it knows, so that it can be taken up again, and in parts. Not for git. */
const folder = join(root, '.mutants');

/** What has become of each mutant so far, by id; a mutant's id changes with the text of its file. */
export interface Record {
  /** Undefined when it is to be tried: never tried, or it survived other tests than those of today. */
  fateOf(id: string): Fate | undefined;
  add(id: string, fate: Fate): void;
}

interface Line {
  readonly id: string;
  readonly fate: Fate;
  readonly tests: string;
}

/** Reads the record of all parts, and adds to the file of one. */
export function openRecord(part: string): Record {
  mkdirSync(folder, { recursive: true });
  const tests = fingerprint();
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as Line);
  const fates = new Map<string, Fate>();
  for (const line of lines) {
    if (line.fate === 'killed' || line.fate === 'timed out' || line.tests === tests) fates.set(line.id, line.fate);
  }
  return {
    fateOf: (id) => fates.get(id),
    add(id, fate) {
      fates.set(id, fate);
      appendFileSync(join(folder, `${part}.jsonl`), `${JSON.stringify({ id, fate, tests } satisfies Line)}\n`);
    },
  };
}

/** Gives the coverage of these mutants by the tests of today, which is found out once. */
export async function keepCoverage(ids: readonly string[], find: () => Promise<Coverage>): Promise<Coverage> {
  const key = createHash('sha256')
    .update(JSON.stringify([fingerprint(), ids]))
    .digest('hex')
    .slice(0, 12);
  const file = join(folder, `coverage-${key}.json`);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Coverage;
  } catch {
    const coverage = await find();
    writeFileSync(file, JSON.stringify(coverage));
    return coverage;
  }
}

/** Of the tests and whatever else a test may read, but not of the sources: those are in the mutants' ids. */
function fingerprint(): string {
  const hash = createHash('sha256');
  for (const file of globSync('{test,faults}/**/*.ts', { cwd: root }).sort()) {
    hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex').slice(0, 12);
}
