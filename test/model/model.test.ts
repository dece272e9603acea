import { expect, it } from 'vitest';
import { engines } from '../support/engines.ts';
import { checkSequences } from './check.ts';

const RUNS = 150;

/** Any will do; `npm run test:model` takes others. */
const SEED = 20_261_121;

it.each(engines)('agrees with the model in random sequences on $name', { timeout: 300_000 }, async (engine) => {
  const { sequences, difference } = await checkSequences(engine, { runs: RUNS, seed: SEED });
  expect({ sequences, difference }).toEqual({ sequences: RUNS, difference: null });
});
