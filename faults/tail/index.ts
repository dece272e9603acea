import { parseArgs } from 'node:util';
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
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`${values.minutes} minutes, ${values.kills} kills, ${values['server-kills']} of the server, seed ${values.seed}`);
const { wrong, ...counts } = await runTail({
  seconds: Number(values.minutes) * 60,
  rate: Number(values.rate),
  kills: Number(values.kills),
  serverKills: Number(values['server-kills']),
  random: createRandom(Number(values.seed)),
  say,
});
for (const [what, count] of Object.entries(counts)) say(`  ${what} ${count}`);
for (const what of wrong) say(`wrong: ${what}`);
say(wrong.length === 0 ? 'every number came once, without a gap' : 'NOT as it should be');
process.exitCode = wrong.length === 0 ? 0 : 1;
