import { parseArgs } from 'node:util';
import { endUnavailable } from '../test/support/postgres-server.ts';
import { runPlan } from './run-plan.ts';
import { plan } from './scenarios/index.ts';
import { openCluster } from './world.ts';

// Runs every scenario on every engine it knows, then each again with a protection taken away, which must fail. Ends
// with 1 when anything was lost, doubled, over-activated or answered wrongly, or when a control passed.
//
//   npm run test:faults                                    20 minutes
//   npm run test:faults -- --minutes 60 --seed 7
//   npm run test:faults -- --minutes 2 --scenario kill-loop --scenario standby

const names = plan.map(({ name }) => name);
const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    scenario: { type: 'string', multiple: true, default: names },
  },
});

const [minutes, seed] = [Number(options.minutes), Number(options.seed)];
if (!(minutes > 0)) end(`--minutes ${options.minutes} is not a number of minutes`);
if (!Number.isSafeInteger(seed)) end(`--seed ${options.seed} is not a whole number`);
const unknown = options.scenario.filter((name) => !names.includes(name));
if (unknown.length > 0) end(`there is no scenario ${unknown.join(', ')}; there are ${names.join(', ')}`);

const chosen = plan.filter(({ name }) => options.scenario.includes(name));
const needsPostgres = chosen.some(({ engines }) => engines.includes('postgres'));
const cluster = needsPostgres ? await openCluster().catch(endUnavailable) : null;
let passed = false;
try {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  passed = await runPlan(chosen, { seconds: minutes * 60, seed, cluster }, print);
} finally {
  await cluster?.stop();
}
process.exit(passed ? 0 : 1);

function end(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
