import { parseArgs } from 'node:util';
import { openEngine } from '../model/engines.ts';
import { endUnavailable } from '../support/postgres-server.ts';
import { fuzz } from './fuzz.ts';

// Sends requests made from the OpenAPI document, valid and broken, and compares each answer with the contract. Ends with 1
// when one is a 500, comes late, or is not in the contract.
//
//   npm run test:fuzz                                               10 000 requests on each engine
//   npm run test:fuzz -- --requests 100000 --seed 7 --engine sqlite

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
  },
});

const [requests, seed] = [Number(options.requests), Number(options.seed)];
if (!Number.isSafeInteger(requests) || requests < 1) end(`--requests ${options.requests} is not a number of requests`);
if (!Number.isSafeInteger(seed)) end(`--seed ${options.seed} is not a whole number`);

let failed = false;
for (const name of options.engine) {
  await using open = await openEngine(name).catch(endUnavailable);
  const start = performance.now();
  const { statuses, problems, heap } = await fuzz(open.engine, { requests, seed });
  const seconds = ((performance.now() - start) / 1_000).toFixed(0);
  const [early, late] = heap.map((bytes) => (bytes / 1_048_576).toFixed(0));
  print(`${open.engine.name}: ${requests} requests, seed ${seed}, ${seconds} s, heap ${early} MiB then ${late} MiB`);
  for (const [status, times] of [...statuses].sort()) print(`  ${String(times).padStart(8)}  ${status}`);
  for (const problem of problems) print(problem);
  failed ||= problems.length > 0;
}
process.exit(failed ? 1 : 0);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function end(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
