import { countLines, runOnEngines } from './engines.ts';
import { checkSequences } from './play.ts';

// Plays random sequences of requests against the service and beside it in a model of its rules. Ends with 1 at the
// first difference, which is printed as the shortest sequence that shows it.
//
//   npm run test:model                                             10 000 sequences on each engine
//   npm run test:model -- --sequences 500 --seed 7 --engine sqlite
//   npm run test:model -- --seed 7 --path 4600:0:2 --engine sqlite   a difference that was found, alone

await runOnEngines('sequences', async (engine, { count, seed, path }) => {
  const { difference, outcomes } = await checkSequences(engine, { runs: count, seed, path });
  const failed = difference !== null;
  return { title: failed ? ', FAILED' : '', lines: [...countLines(outcomes), ...(failed ? [difference] : [])], failed };
});
