import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Checkout } from '../gate/checkout.ts';
import { type PostgresServer, startPostgres } from '../test/support/postgres-server.ts';
import type { Coverage } from './cover.ts';
import { type Mutant, mutate } from './find.ts';
import { type Ended, runVitest } from './process.ts';

/** What became of a mutant. */
export type Fate = 'killed' | 'timed out' | 'survived' | 'not reached';

/** A copy of the checkout and a database server, to try one mutant after the other. */
export interface Bench extends AsyncDisposable {
  /** Runs the tests that reach a mutant, until the first one fails. */
  attempt(mutant: Mutant): Promise<Fate>;
}

/** Time that a run may take, over that of its tests when each is run alone. */
const TIMEOUT_FACTOR = 4;
const TIMEOUT_EXTRA_MS = 30_000;

/** Opens a bench on a copy, which stays the caller's. */
export async function openBench(checkout: Checkout, coverage: Coverage): Promise<Bench> {
  const settings = { fsync: 'off', max_connections: 100 };
  let server: PostgresServer = await startPostgres(settings);

  async function run(files: readonly string[]): Promise<Ended> {
    const alone = files.reduce((sum, file) => sum + (coverage.ms[file] ?? 0), 0);
    const env = { LKM_TEST_POSTGRES: server.url, LKM_MUTANTS_ORDER: files.join('\n') };
    const timeoutMs = alone * TIMEOUT_FACTOR + TIMEOUT_EXTRA_MS;
    const ended = await runVitest(checkout.path, ['--bail=1', '--reporter=dot', ...files], env, timeoutMs);
    if (ended.status === null) {
      // It could not remove its databases.
      await server.stop();
      server = await startPostgres(settings);
    }
    return ended;
  }
  return {
    async attempt(mutant) {
      const files = coverage.files[mutant.id] ?? [];
      if (files.length === 0) return 'not reached';
      const source = readFileSync(join(checkout.path, mutant.file), 'utf8');
      const ended = await checkout.withFiles({ [mutant.file]: mutate(source, mutant) }, () => run(files));
      if (ended.status === null) return 'timed out';
      return ended.status === 0 ? 'survived' : 'killed';
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
