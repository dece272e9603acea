import { parseArgs } from 'node:util';
import { conclude, say, sayCounts, seedOption } from '../main.ts';
import { onEngines } from '../on-engines.ts';
import { createRandom } from '../random.ts';
import { runBackups } from './run.ts';

// `lkm db backup` every few seconds under load, while the server is killed with -9 at random moments, and one backup of
// four too: each backup that is there passes the drill, restores, and holds all that was acknowledged before it began.
//
//   npm run test:backups                                  5 minutes on each engine, 40 kills of the server
//   npm run test:backups -- --engine sqlite --minutes N --kills N --seed N

const { values } = parseArgs({
  options: {
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    minutes: { type: 'string', default: '5' },
    kills: { type: 'string', default: '40' },
    seed: seedOption,
  },
});
let hasPassed = true;

await onEngines(values.engine, async (engine, cluster) => {
  say(`${engine}: ${values.minutes} minutes, ${values.kills} kills of the server, seed ${values.seed}`);
  const { wrong, ...counts } = await runBackups({
    engine,
    cluster,
    seconds: Number(values.minutes) * 60,
    everySeconds: 4,
    kills: Number(values.kills),
    backupKillOdds: 4,
    random: createRandom(Number(values.seed)),
    say,
  });
  sayCounts(counts);
  for (const what of wrong) say(`wrong: ${what}`);
  hasPassed &&= wrong.length === 0;
});
conclude(hasPassed, 'every backup restores, and nothing acknowledged is missing');
