import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { timeCommands } from './commands.ts';
import { inTurns } from './compare.ts';
import { makeDatabase, onCluster } from './database.ts';
import { buildEarlier, seed } from './earlier.ts';
import { print } from './figures.ts';
import { type TimedRequest, timeGreedy, timeLists } from './lists.ts';
import type { Operation, Side } from './measure.ts';
import { besideBarePool } from './postgres.ts';
import { benchWebhooks } from './webhooks.ts';

// Prints requests per second over 32 connections. Only the ratios mean anything on another machine: the servers of both
// sides run, and are loaded in short turns. A ratio is the middle one of those of the turns, since a machine that others
// share is not equally fast from one second to the next.
//
//   npm run bench              beside bare node:http, at 1 000 and 200 000 keys, one and two replicas
//   npm run bench -- bare      the first of these alone
//   npm run bench -- million   at 1 000 and 1 000 000 keys: rates, time to start, memory; then the next one
//   npm run bench -- lists [N] lists and numbers of 1 000 000 keys, or N, on SQLite and PostgreSQL, beside GET /health
//   npm run bench -- greedy [N] others beside a token that asks for the worst lists of 100 000 keys, or N, on SQLite
//   npm run bench -- postgres  on PostgreSQL: statements of each operation; create beside a pool that sends the same ones
//   npm run bench -- webhooks  create under a key with three webhooks beside without; deliveries per second, and their lag
//   npm run bench -- twice     beside two servers with a database each: what a second thread could give at most
//   npm run bench -- since REV beside an earlier version, which is built first: rates, time to start, memory, commands

const [mode = '', given] = process.argv.slice(2);
const modes: Readonly<Record<string, () => Promise<void>>> = {
  bare: besideBareHttp,
  million: async () => {
    await atSizes(1_000_000, '1 000 000 keys');
    await listsOf(1_000_000);
  },
  lists: () => listsOf(Number(given ?? 1_000_000)),
  greedy: () => besideGreedy(Number(given ?? 100_000)),
  postgres: besideBarePool,
  webhooks: benchWebhooks,
  twice: besideTwo,
  since: () => since(given ?? 'HEAD~1'),
};
const all = async () => {
  await besideBareHttp();
  await atSizes(200_000, '200 000 keys');
  await asReplicas();
};
await (modes[mode] ?? all)();

/** Compares two sides in some operations, each with its goal, and prints their rates; with `details` also time to start and memory. */
async function compare(
  operations: Partial<Record<Operation, readonly number[]>>,
  one: Side,
  other: Side,
  details = false,
): Promise<void> {
  for (const [operation, goal] of Object.entries(operations)) {
    const compared = await inTurns(operation as Operation, one, other);
    print(operation, compared.one.rate, compared.other.rate, compared.ratio, ...goal);
    if (!details) continue;
    print('  ready, ms', compared.one.readyMs, compared.other.readyMs);
    print('  memory, MiB', compared.one.memoryMib, compared.other.memoryMib);
  }
}

async function besideBareHttp(): Promise<void> {
  const fixture = () => makeDatabase(1_000);
  print('', 'bare node:http', 'lkm serve', 'ratio', 'goal', 'first seconds', 'p99', 'memory, MiB');
  const goals = { 'create-key': 0.85, 'create-key once': 0.75, get: 0.8, sign: 0.8 };
  for (const [operation, goal] of Object.entries(goals)) {
    const compared = await inTurns(
      operation as Operation,
      { server: 'bare', fixture },
      { server: 'lkm serve', fixture },
    );
    const { one, other, ratio, coldRatio, p99Ratio } = compared;
    print(operation, one.rate, other.rate, ratio, goal, coldRatio, p99Ratio, other.memoryMib);
  }
}

async function besideTwo(): Promise<void> {
  const one: Side = { server: 'lkm serve', fixture: () => makeDatabase(1_000) };
  print('', 'one server', 'two, not one', 'ratio');
  await compare({ 'create-key': [], 'create-key once': [], get: [], sign: [] }, one, { ...one, copies: 2 });
}

async function atSizes(count: number, name: string): Promise<void> {
  const fixture = await makeDatabase(count);
  const small: Side = { server: 'lkm serve', fixture: () => makeDatabase(1_000) };
  print('\n', '1 000 keys', name, 'ratio', 'goal');
  try {
    const goals = { 'create-key': [0.9], 'create-key once': [0.9], get: [0.9], sign: [0.9] };
    await compare(goals, small, { server: 'lkm serve', fixture }, true);
  } finally {
    await fixture.remove();
  }
}

async function listsOf(count: number): Promise<void> {
  const show = (engine: string, timed: readonly TimedRequest[]) => {
    print(`\n${engine}, ms`.padEnd(26), 'middle of 15', 'GET /health');
    for (const { name, ms, healthMs } of timed) print(name.padEnd(25), ms, healthMs);
  };
  show('SQLite', await timeLists(count));
  await onCluster(async (cluster) => show('PostgreSQL', await timeLists(count, cluster)));
}

async function besideGreedy(count: number): Promise<void> {
  print('', 'health, ms', 'create-key, ms', 'list, ms', 'lists', 'greedy');
  const [idle, beside] = await timeGreedy(count);
  for (const [name, { health, create, list, lists, greedy }] of Object.entries({ idle, beside }))
    print(name, health, create, list, JSON.stringify(lists), JSON.stringify(greedy));
}

async function since(revision: string): Promise<void> {
  using earlier = mkdtempDisposableSync(join(tmpdir(), 'lkm-bench-earlier-'));
  buildEarlier(revision, earlier.path);
  const root = dirname(import.meta.dirname);
  print('', revision.slice(0, 14), 'this version', 'ratio');
  const side = (at: string): Side => ({ server: 'lkm serve', root: at, fixture: () => seed(at, 1_000) });
  const operations = { 'create-key': [], 'create-key once': [], get: [], sign: [] };
  await compare(operations, side(earlier.path), side(root), true);
  print('\ncommands, ms', revision.slice(0, 14), 'this version', 'ratio', 'of node -e 0');
  for (const { name, one, other, bare } of await timeCommands(earlier.path, root)) {
    print(name, one, other, other / one, other / bare);
  }
}

/** On this one machine the replicas share the cores with each other, the database and the load. */
async function asReplicas(): Promise<void> {
  await onCluster(async (cluster) => {
    const fixture = await makeDatabase(1_000, cluster);
    print('\nPostgreSQL', 'one replica', 'two replicas', 'ratio');
    const one: Side = { server: 'lkm serve', fixture };
    await compare({ 'create-key once': [], get: [] }, one, { ...one, replicas: 2 });
    await fixture.remove();
  });
}
