import { parseArgs } from 'node:util';
import { onEngines } from '../on-engines.ts';
import { createRandom } from '../random.ts';
import { hasFailed } from '../report.ts';
import { runDeliveries } from './run.ts';

// Events on their way to a receiver that answers 500, hangs, resets, redirects, drips and dies, while servers are killed
// and PostgreSQL is restarted: each is delivered, duplicates have the same id, and the numbers have no gap.
//
//   npm run test:deliveries                                     20 000 events on SQLite and on PostgreSQL, 20 kills, 5 restarts
//   npm run test:deliveries -- --engine sqlite --events 2000
//   npm run test:deliveries -- --engine E --events N --kills N --restarts N --minutes N --seed N

const { values } = parseArgs({
  options: {
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    events: { type: 'string', default: '20000' },
    kills: { type: 'string', default: '20' },
    restarts: { type: 'string', default: '5' },
    minutes: { type: 'string', default: '15' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
let isGood = true;

await onEngines(values.engine, async (engine, cluster) => {
  const restarts = cluster?.restart ? Number(values.restarts) : 0;
  say(`${engine}: ${values.events} events, ${values.kills} kills, ${restarts} restarts, seed ${values.seed}`);
  const { report, done, seconds, ...counts } = await runDeliveries({
    engine,
    cluster,
    events: Number(values.events),
    kills: Number(values.kills),
    restarts,
    seed: Number(values.seed),
    random: createRandom(Number(values.seed)),
    maxSeconds: Number(values.minutes) * 60,
    settleSeconds: 60,
    sabotage: null,
    say,
  });
  for (const [what, count] of Object.entries(counts)) say(`  ${what} ${count}`);
  say(`  the receiver: ${[...done].map(([what, count]) => `${what} ${count}`).join(', ')}`);
  say(`  ${seconds.toFixed(0)} s`);
  for (const note of report.notes) say(`  ${note}`);
  isGood &&= !hasFailed(report);
});
say(isGood ? 'every event was delivered' : 'NOT as it should be');
process.exitCode = isGood ? 0 : 1;
