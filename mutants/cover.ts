import { existsSync, globSync, mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyCheckout } from '../gate/checkout.ts';
import type { Mutant } from './find.ts';
import { type Hits, instrument } from './hits.ts';
import { runVitest } from './process.ts';

/** Which tests reach which mutants. */
export interface Coverage {
  /** The test files by the mutants' ids, the quickest first. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  /** How long each test file takes alone, on all engines that it runs on. */
  readonly ms: Readonly<Record<string, number>>;
}

/** The projects that take part: those that run the sources in the process of the test. */
const PROJECTS = ['unit', 'engines', 'api', 'postgres', 'races'].flatMap((name) => ['--project', name]);

const TIMEOUT_MS = 60 * 60_000;

/**
 * Runs all tests over sources that say which mutants' sites are evaluated, and then, as a control, the way that they
 * run for a mutant, with nothing changed: a test that fails there would kill every mutant.
 */
export async function cover(mutants: readonly Mutant[]): Promise<Coverage> {
  using checkout = copyCheckout();
  using hits = mkdtempDisposableSync(join(tmpdir(), 'lkm-mutants-hits-'));
  const instrumented = [...Map.groupBy(mutants, ({ file }) => file)].map(
    ([file, all]) => [file, (source: string) => instrument(source, all, hits.path)] as const,
  );
  const env = { LKM_MUTANTS_HITS: hits.path };
  await checkout.withFiles(Object.fromEntries(instrumented), () => runAll(checkout.path, env));
  const records = globSync(join(hits.path, '*.json')).map((path) => {
    const { file, ms, pid, hits: own }: Hits = JSON.parse(readFileSync(path, 'utf8'));
    const children = join(hits.path, String(pid));
    const ofChildren = existsSync(children) ? readFileSync(children, 'utf8').split('\n') : [];
    return { file, ms, hits: new Set([...own, ...ofChildren]) };
  });

  const quickest = records.toSorted((a, b) => a.ms - b.ms);
  await runAll(checkout.path, { LKM_MUTANTS_ORDER: quickest.map(({ file }) => file).join('\n') });
  return {
    files: Object.fromEntries(
      mutants.map(({ id }) => {
        // A file that runs on each engine has a record of each.
        const reaching = quickest.filter((record) => record.hits.has(id));
        return [id, [...new Set(reaching.map(({ file }) => file))]];
      }),
    ),
    ms: Object.fromEntries(
      [...Map.groupBy(records, ({ file }) => file)].map(([file, all]) => [
        file,
        all.reduce((sum, { ms }) => sum + ms, 0),
      ]),
    ),
  };
}

async function runAll(cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { status, output } = await runVitest(cwd, ['--reporter=dot', ...PROJECTS], env, TIMEOUT_MS);
  if (status !== 0) throw new Error(`tests fail where nothing is changed (status ${status}): ${output}`);
}
