import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRandom } from '../../faults/random.ts';
import { createFolder, engineOf, engines } from '../support/engines.ts';
import { type Fight, fight, SEATS } from './floating.ts';
import { checkSequences } from './play.ts';

const RUNS = 150;
const TIMEOUT_MS = 120_000;

/** Any will do; `npm run test:model` takes others. */
const SEED = 20_261_121;

it.each(engines)('agrees with the model in random sequences on $name', { timeout: 300_000 }, async (engine) => {
  const { sequences, difference } = await checkSequences(engine, { runs: RUNS, seed: SEED });
  expect({ sequences, difference }).toEqual({ sequences: RUNS, difference: null });
});

it('gives ten seats to fifty clients, and each lapsed one again, on SQLite', { timeout: TIMEOUT_MS }, async () => {
  await using folder = await createFolder();
  expectFair(await fight(join(folder.path, 'lkm.db'), { servers: 1, random: createRandom(SEED) }));
});

it('does so with two replicas on PostgreSQL', { timeout: TIMEOUT_MS }, async () => {
  await using database = await engineOf('PostgreSQL').createDatabase();
  expectFair(await fight(database.location, { servers: 2, random: createRandom(SEED) }));
});

function expectFair({ mostHeld, mostListed, refusedWithFreeSeat, wrong, ...counts }: Fight): void {
  expect({ mostHeld, mostListed, refusedWithFreeSeat, wrong }).toEqual({
    mostHeld: SEATS,
    mostListed: SEATS,
    refusedWithFreeSeat: 0,
    wrong: [],
  });
  // Otherwise nobody has fought.
  expect(counts.lapsed).toBeGreaterThan(SEATS);
  expect(counts.refused).toBeGreaterThan(SEATS);
  expect(counts.heartbeats).toBeGreaterThan(SEATS);
}
