import { parseArgs } from 'node:util';
import { conclude, say, sayCounts, seedOption } from '../main.ts';
import { createRandom } from '../random.ts';
import { runBulkPlan } from './run.ts';

// A bulk command on many rows, killed with -9 at random moments, as its server is, with 429 in between.
//
//   npm run test:bulk                                        10 000 keys issued, 20 kills, 5 of the server
//   npm run test:bulk -- --import --rows 100000              100 000 keys of another system, out again and in again
//   npm run test:bulk -- --rows N --kills N --server-kills N --rate-limit N --seed N

const { values } = parseArgs({
  options: {
    import: { type: 'boolean', default: false },
    rows: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '20' },
    'server-kills': { type: 'string', default: '5' },
    'rate-limit': { type: 'string', default: '60000' },
    seed: seedOption,
  },
});

const command = values.import ? 'keys import' : 'keys create';
const [rows, kills, serverKills] = [values.rows, values.kills, values['server-kills']].map(Number);

say(`${command}: ${rows} rows, ${kills} kills, ${serverKills} of the server, seed ${values.seed}`);
const { ms, wrong, ...counts } = await runBulkPlan({
  command,
  rows: rows ?? 0,
  kills: kills ?? 0,
  serverKills: serverKills ?? 0,
  rateLimit: Number(values['rate-limit']),
  random: createRandom(Number(values.seed)),
  say,
});
sayCounts(counts);
say(`  ${(ms / 1_000).toFixed(1)} s`);
for (const what of wrong) say(`wrong: ${what}`);
conclude(wrong.length === 0, 'every row is there once');
