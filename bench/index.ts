import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { timeBulk } from './bulk.ts';
import { timeCommands } from './commands.ts';
import { inTurns } from './compare.ts';
import { makeDatabase } from './database.ts';
import { buildEarlier, seed } from './earlier.ts';
import { print } from './figures.ts';
import { timeFinds, timeLists } from './lists.ts';
import { type Operation, operations, type Side } from './measure.ts';

// Prints requests per second over 32 connections. Only the ratios mean anything on another machine: the servers of both
// sides run, and are loaded in short turns. A ratio is the median of the ratios of the turns, since a machine that others
// share is not equally fast from one second to the next.
//
//   npm run bench -- bare           beside bare node:http
//   npm run bench -- since [REV]    beside an earlier version, which is built first: rates, time to start, memory, commands
//   npm run bench -- million [N]    at 1 000 and 1 000 000 keys, or N: rates, and lists beside GET /health, idle and under load
//   npm run bench -- find [N]      GET /find over HTTP at 100 000 keys and 20 000 customers, or N and a fifth of it
//   npm run bench -- bulk [N]       one command that issues, and one that imports, 20 000 keys, or N

const root = dirname(import.meta.dirname);
const [mode = 'bare', given] = process.argv.slice(2);
const modes: Readonly<Record<string, () => Promise<void>>> = {
  bare,
  since: () => since(given ?? 'HEAD~1'),
  million: () => million(Number(given ?? 1_000_000)),
  find: () => timeFinds(Number(given ?? 100_000)),
  bulk: () => timeBulk(Number(given ?? 20_000)),
};
function side(count: number): Side {
  return { server: 'lkm serve', fixture: () => makeDatabase(count) };
}

const run = modes[mode];
if (run === undefined) throw new Error(`there is no mode ${mode}: ${Object.keys(modes).join(', ')}`);
await run();

/** Compares two sides in each operation: rates, what the first seconds and the slowest responses are, time to start, memory. */
async function compare(names: readonly [one: string, other: string], one: Side, other: Side): Promise<void> {
  print('', ...names, 'ratio', 'first seconds', 'p99', 'ready, ms', 'memory, MiB');
  for (const operation of operations as readonly Operation[]) {
    const compared = await inTurns(operation, one, other);
    const { ratio, coldRatio, p99Ratio } = compared;
    print(operation, compared.one.rate, compared.other.rate, ratio, coldRatio, p99Ratio, ...costs(compared));
  }
}

/** How many times as long the other side takes to start, and how many times as much memory it takes. */
function costs({ one, other }: Awaited<ReturnType<typeof inTurns>>) {
  return [
    `${one.readyMs.toFixed(0)} → ${other.readyMs.toFixed(0)}`,
    `${one.memoryMib.toFixed(0)} → ${other.memoryMib.toFixed(0)}`,
  ];
}

async function bare(): Promise<void> {
  await compare(['bare node:http', 'lkm serve'], { ...side(1_000), server: 'bare' }, side(1_000));
}

async function since(revision: string): Promise<void> {
  using earlier = mkdtempDisposableSync(join(tmpdir(), 'lkm-bench-earlier-'));
  buildEarlier(revision, earlier.path);
  const names = [revision.slice(0, 14), 'this version'] as const;
  const at = (folder: string): Side => ({ server: 'lkm serve', root: folder, fixture: () => seed(folder, 1_000) });
  await compare(names, at(earlier.path), at(root));
  print('\ncommands, ms', ...names, 'ratio', 'of node -e 0');
  for (const { name, one, other, bare } of await timeCommands(earlier.path, root)) {
    print(name, one, other, other / one, other / bare);
  }
}

async function million(count: number): Promise<void> {
  const fixture = await makeDatabase(count);
  await compare(['1 000 keys', `${count} keys`], side(1_000), { server: 'lkm serve', fixture });
  await fixture.remove();
  await timeLists(count);
}
