import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { timeBulk } from './bulk.ts';
import { timeCommands } from './commands.ts';
import { makeFolder, makeVaried, seed } from './database.ts';
import { middle, print, quantile } from './figures.ts';
import { timeFinds, timeLists } from './lists.ts';
import { operations, type Side, start } from './measure.ts';

// Prints requests per second over 32 connections. Only the ratios mean anything on another machine: the servers of both
// sides run, and are loaded in short turns. A ratio is the median of the ratios of the turns, since a machine that others
// share is not equally fast from one second to the next.
//
//   npm run bench -- bare           beside bare node:http
//   npm run bench -- since [REV]    beside an earlier version, which is built first: rates, time to start, memory, commands
//   npm run bench -- million [N]    at 1 000 and 1 000 000 keys, or N: rates, and lists beside GET /health, idle and under load
//   npm run bench -- find [N]       GET /find over HTTP at 100 000 keys and 20 000 customers, or N and a fifth of it
//   npm run bench -- bulk [N]       one command that issues, and one that imports, 20 000 keys, or N

const TURNS = Number(process.env.LKM_BENCH_TURNS ?? 40);
const TURN_SECONDS = 0.5;
/** Turns before those that count, while the compiler is at work. */
const WARM_UP_TURNS = Number(process.env.LKM_BENCH_WARM_UP ?? 10) / TURN_SECONDS;

const root = dirname(import.meta.dirname);
const [mode = 'bare', given] = process.argv.slice(2);
const modes: Readonly<Record<string, () => Promise<void>>> = {
  bare: () => compare(['bare node:http', 'lkm serve'], { ...small(), isBare: true }, small()),
  since: () => since(given ?? 'HEAD~1'),
  million: () => million(Number(given ?? 1_000_000)),
  find: () => timeFinds(Number(given ?? 100_000)),
  bulk: () => timeBulk(Number(given ?? 20_000)),
};
const run = modes[mode];
if (run === undefined) throw new Error(`there is no mode ${mode}: ${Object.keys(modes).join(', ')}`);
await run();

/** A server of a checkout, with a new database of 1 000 keys for each operation. */
function small(checkout = root): Side {
  return { root: checkout, fixture: () => seed(checkout, 1_000) };
}

/** Compares two sides in each operation: rates, the slowest responses, time to start, memory. */
async function compare(names: readonly [one: string, other: string], one: Side, other: Side): Promise<void> {
  print('', ...names, 'ratio', 'p99', 'ready, ms', 'memory, MiB');
  for (const operation of operations) {
    const first = { ...(await start(one)), rates: [] as number[], latencies: [] as number[] };
    const second = { ...(await start(other)), rates: [] as number[], latencies: [] as number[] };
    const sides = [first, second];
    for (let turn = -WARM_UP_TURNS; turn < TURNS; turn += 1) {
      for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
        const { rate, latencies } = await side.load(operation, TURN_SECONDS);
        if (turn < 0) continue;
        side.rates.push(rate);
        side.latencies.push(...latencies);
      }
    }
    const ratios = second.rates.map((rate, turn) => rate / (first.rates[turn] ?? Number.NaN));
    const p99 = quantile(second.latencies, 0.99) / quantile(first.latencies, 0.99);
    const ready = sides.map(({ readyMs }) => readyMs.toFixed(0)).join(' → ');
    const memory = sides.map((side) => side.peakMemoryMib().toFixed(0)).join(' → ');
    print(operation, middle(first.rates), middle(second.rates), middle(ratios), p99, ready, memory);
    for (const side of sides) await side.stop();
  }
}

/** Builds a revision, which takes about a minute and needs the npm registry or a filled cache, and compares with it. */
async function since(revision: string): Promise<void> {
  const earlier = makeFolder();
  const archive = execFileSync('git', ['archive', revision], { cwd: root, maxBuffer: 1_073_741_824 });
  execFileSync('tar', ['-x', '-C', earlier], { input: archive });
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: earlier, stdio: 'ignore' });
  const names = [revision.slice(0, 14), 'this version'] as const;
  await compare(names, small(earlier), small());
  print('\ncommands, ms', ...names, 'ratio', 'of node -e 0');
  await timeCommands(earlier, root);
}

async function million(count: number): Promise<void> {
  const fixture = await makeVaried(count);
  await compare(['1 000 keys', `${count} keys`], small(), { root, fixture: async () => fixture });
  await timeLists(fixture, count);
}
