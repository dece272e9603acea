import { parseArgs } from 'node:util';
import { conclude, say, sayCounts, seedOption } from '../main.ts';
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
    seed: seedOption,
  },
});
let hasPassed = true;

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
  sayCounts(counts);
  say(`  the receiver: ${[...done].map(([what, count]) => `${what} ${count}`).join(', ')}`);
  say(`  ${seconds.toFixed(0)} s`);
  for (const note of report.notes) say(`  ${note}`);
  hasPassed &&= !hasFailed(report);
});
conclude(hasPassed, 'every event was delivered');
