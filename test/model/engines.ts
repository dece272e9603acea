import { parseArgs } from 'node:util';
import { type Engine, postgresOn, sqlite } from '../support/engines.ts';
import { openTemplate } from '../support/postgres.ts';
import { endUnavailable } from '../support/postgres-server.ts';

interface Options {
  readonly count: number;
  readonly seed: number;
  /** Of a difference that was found with the seed: only its sequence is played. */
  readonly path: string | undefined;
}

/** What a run on one engine has found: lines to print, and whether something is wrong. */
export interface Run {
  readonly title: string;
  readonly lines: readonly string[];
  readonly failed: boolean;
}

/**
 * Runs a check on each engine, outside of vitest, so often and from the seed that the command line says. Ends the process
 * with 1 when something is wrong on one of them, with 2 when the command line cannot be understood.
 */
export async function runOnEngines(
  what: 'sequences' | 'requests',
  check: (engine: Engine, options: Options) => Promise<Run>,
): Promise<never> {
  const { values } = parseArgs({
    options: {
      [what]: { type: 'string', default: '10000' },
      path: { type: 'string' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    },
  });
  const [count, seed] = [Number(values[what]), Number(values.seed)];
  const names = [values.engine ?? []].flat();
  const isRight = Number.isSafeInteger(count) && count > 0 && Number.isSafeInteger(seed);
  if (!isRight || names.some((name) => name !== 'sqlite' && name !== 'postgres')) {
    process.stderr.write(`usage: [--${what} NUMBER] [--seed NUMBER [--path PATH]] [--engine sqlite|postgres]...\n`);
    process.exit(2);
  }

  let failed = false;
  for (const name of names) {
    const server = name === 'postgres' ? await openTemplate({ fsync: 'off' }).catch(endUnavailable) : null;
    const engine = server === null ? sqlite : postgresOn(() => server);
    const start = performance.now();
    const run = await check(engine, { count, seed, path: values.path?.toString() });
    const seconds = ((performance.now() - start) / 1_000).toFixed(0);
    process.stdout.write(`${engine.name}: ${count} ${what}, seed ${seed}, ${seconds} s${run.title}\n`);
    for (const line of run.lines) process.stdout.write(`${line}\n`);
    failed ||= run.failed;
    await server?.stop();
  }
  process.exit(failed ? 1 : 0);
}

/** How often each thing was, as lines. */
export const countLines = (counts: ReadonlyMap<string | number, number>): string[] =>
  [...counts].sort().map(([name, times]) => `  ${String(times).padStart(8)}  ${name}`);
