import { countLines, runOnEngines } from '../model/engines.ts';
import { fuzz } from './fuzz.ts';

// Sends requests made from the OpenAPI document, valid and broken, and compares each answer with the contract. Ends with 1
// when one is a 500, comes late, or is not in the contract.
//
//   npm run test:fuzz                                               10 000 requests on each engine
//   npm run test:fuzz -- --requests 100000 --seed 7 --engine sqlite

await runOnEngines('requests', async (engine, { count, seed }) => {
  const { statuses, problems, heap } = await fuzz(engine, { requests: count, seed });
  const [early, late] = heap.map((bytes) => (bytes / 1_048_576).toFixed(0));
  const title = `, heap ${early} MiB then ${late} MiB`;
  return { title, lines: [...countLines(statuses), ...problems], failed: problems.length > 0 };
});
