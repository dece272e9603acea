import { expect, it } from 'vitest';
import { engines } from '../support/engines.ts';
import { checkSequences } from './check.ts';

const COUNT = 150;

/** Any will do; `npm run test:model` takes others. */
const SEED = 20_261_121;

it.each(engines)('agrees with the model in random sequences on $name', { timeout: 120_000 }, async (engine) => {
  expect(await checkSequences(engine, { count: COUNT, seed: SEED })).toEqual({ sequences: COUNT, difference: null });
});
