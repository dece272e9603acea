import { parseArgs } from 'node:util';
import { endUnavailable } from '../support/postgres-server.ts';
import { checkSequences } from './check.ts';
import { openEngine } from './engines.ts';

// Plays random sequences of requests against the service and beside it in a model of its rules. Ends with 1 at the
// first difference, which is printed as the shortest sequence that shows it.
//
//   npm run test:model                                             10 000 sequences on each engine
//   npm run test:model -- --sequences 500 --seed 7 --engine sqlite

const { values: options } = parseArgs({
  options: {
    sequences: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
  },
});

const [runs, seed] = [Number(options.sequences), Number(options.seed)];
if (!Number.isSafeInteger(runs) || runs < 1) end(`--sequences ${options.sequences} is not a number of sequences`);
if (!Number.isSafeInteger(seed)) end(`--seed ${options.seed} is not a whole number`);
const unknown = options.engine.filter((name) => !['sqlite', 'postgres'].includes(name));
if (unknown.length > 0) end(`--engine ${unknown} is neither sqlite nor postgres`);

let failed = false;
for (const name of options.engine) {
  await using open = await openEngine(name).catch(endUnavailable);
  const start = performance.now();
  const { sequences, difference, outcomes } = await checkSequences(open.engine, { runs, seed });
  const seconds = ((performance.now() - start) / 1_000).toFixed(0);
  print(
    `${open.engine.name}: ${sequences} sequences, seed ${seed}, ${seconds} s${difference === null ? '' : ', FAILED'}`,
  );
  for (const [name, times] of [...outcomes].sort()) print(`  ${String(times).padStart(8)}  ${name}`);
  if (difference !== null) print(`${difference}\n`);
  failed ||= difference !== null;
}
process.exit(failed ? 1 : 0);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function end(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
