import { parseArgs } from 'node:util';
import { conclude, say, sayCounts, seedOption } from '../main.ts';
import { createRandom } from '../random.ts';
import { runTail } from './run.ts';

// `lkm events tail --json` piped to a program under load, killed with -9 at random moments and started again with `--after`
// of the last line that the program got, as its server is: every number comes once, and in order.
//
//   npm run test:tail                                      10 minutes, 200 events a second, 60 kills, 10 of the server
//   npm run test:tail -- --minutes N --rate N --kills N --server-kills N --seed N

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string', default: '200' },
    kills: { type: 'string', default: '60' },
    'server-kills': { type: 'string', default: '10' },
    seed: seedOption,
  },
});

say(`${values.minutes} minutes, ${values.kills} kills, ${values['server-kills']} of the server, seed ${values.seed}`);
const { wrong, ...counts } = await runTail({
  seconds: Number(values.minutes) * 60,
  rate: Number(values.rate),
  kills: Number(values.kills),
  serverKills: Number(values['server-kills']),
  random: createRandom(Number(values.seed)),
  say,
});
sayCounts(counts);
for (const what of wrong) say(`wrong: ${what}`);
conclude(wrong.length === 0, 'every number came once, without a gap');
