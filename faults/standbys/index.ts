import { parseArgs } from 'node:util';
import { conclude, say, sayCounts, seedOption } from '../main.ts';
import { createRandom } from '../random.ts';
import { runStandbyPairs } from './run.ts';

// Writes through one server and reads through another at once, while their hot standby replays late, and is killed: no
// read is stale. Ends with 1 when one was, or when no read came from the standby.
//
//   npm run test:standbys                                   10 000 pairs, replay pauses up to 300 ms, 5 kills
//   npm run test:standbys -- --pairs N --pause MS --kills N --seed N

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '10000' },
    pause: { type: 'string', default: '300' },
    kills: { type: 'string', default: '5' },
    seed: seedOption,
  },
});

say(`${values.pairs} pairs, pauses up to ${values.pause} ms, ${values.kills} kills, seed ${values.seed}`);
const outcome = await runStandbyPairs({
  pairs: Number(values.pairs),
  pauseMs: Number(values.pause),
  kills: Number(values.kills),
  random: createRandom(Number(values.seed)),
});
sayCounts({ ...outcome });
conclude(outcome.stale === 0 && outcome.fromStandby > 0, 'every read found what was acknowledged before it');
