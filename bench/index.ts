import { dirname } from 'node:path';
import { openCluster } from '../faults/world.ts';
import { endUnavailable } from '../test/support/postgres-server.ts';
import { timeCommands } from './commands.ts';
import { inTurns } from './compare.ts';
import { makeDatabase } from './database.ts';
import { buildEarlier, seed } from './earlier.ts';
import { print } from './figures.ts';
import { type TimedRequest, timeLists } from './lists.ts';
import { benchWebhooks } from './webhooks.ts';

// Prints requests per second over 32 connections. Only the ratios mean anything on another machine: the servers of both
// sides run, and are loaded in short turns. A ratio is the middle one of those of the turns, since a machine that others
// share is not equally fast from one second to the next.
//
//   npm run bench              beside bare node:http, at 1 000 and 200 000 keys, one and two replicas
//   npm run bench -- bare      the first of these alone
//   npm run bench -- million   at 1 000 and 1 000 000 keys: rates, time to start, memory; then the next one
//   npm run bench -- lists [N] lists and numbers of 1 000 000 keys, or N, on SQLite and PostgreSQL, beside GET /health
//   npm run bench -- webhooks  create under a key with three webhooks beside without; deliveries per second, and their lag
//   npm run bench -- since REV beside an earlier version, which is built first: rates, time to start, memory, commands

const [mode, revision = 'HEAD~1'] = process.argv.slice(2);
if (mode === 'bare') await besideBareHttp();
else if (mode === 'million') {
  await atSizes(1_000_000, '1 000 000 keys');
  await listsOf(1_000_000);
} else if (mode === 'lists') await listsOf(Number(process.argv[3] ?? 1_000_000));
else if (mode === 'webhooks') await benchWebhooks();
else if (mode === 'since') await since(revision);
else {
  await besideBareHttp();
  await atSizes(200_000, '200 000 keys');
  await asReplicas();
}

async function besideBareHttp(): Promise<void> {
  const fixture = () => makeDatabase(1_000);
  print('', 'bare node:http', 'lkm serve', 'ratio', 'goal');
  for (const [operation, goal] of [
    ['create-key', 0.85],
    ['create-key once', 0.85],
    ['get', 0.7],
    ['sign', 0.75],
  ] as const) {
    const { one, other, ratio } = await inTurns(
      operation,
      { server: 'bare', fixture },
      { server: 'lkm serve', fixture },
    );
    print(operation, one.rate, other.rate, ratio, goal);
  }
}

async function atSizes(count: number, name: string): Promise<void> {
  const large = await makeDatabase(count);
  try {
    print('\n', '1 000 keys', name, 'ratio', 'goal');
    for (const operation of ['create-key', 'get'] as const) {
      const { one, other, ratio } = await inTurns(
        operation,
        { server: 'lkm serve', fixture: () => makeDatabase(1_000) },
        { server: 'lkm serve', fixture: large },
      );
      print(operation, one.rate, other.rate, ratio, 0.85);
      print('  ready, ms', one.readyMs, other.readyMs);
      print('  memory, MiB', one.memoryMib, other.memoryMib);
    }
  } finally {
    await large.remove();
  }
}

async function listsOf(count: number): Promise<void> {
  const show = (engine: string, timed: readonly TimedRequest[]) => {
    print(`\n${engine}, ms`.padEnd(26), 'middle of 15', 'GET /health');
    for (const { name, ms, healthMs } of timed) print(name.padEnd(25), ms, healthMs);
  };
  show('SQLite', await timeLists(count));
  const cluster = await openCluster().catch(endUnavailable);
  try {
    show('PostgreSQL', await timeLists(count, cluster));
  } finally {
    await cluster.stop();
  }
}

async function since(revision: string): Promise<void> {
  const earlier = buildEarlier(revision);
  const root = dirname(import.meta.dirname);
  try {
    print('', revision.slice(0, 14), 'this version', 'ratio');
    for (const operation of ['create-key', 'create-key once', 'get', 'sign'] as const) {
      const { one, other, ratio } = await inTurns(
        operation,
        { server: 'lkm serve', root: earlier.root, fixture: () => seed(earlier.root, 1_000) },
        { server: 'lkm serve', root, fixture: () => seed(root, 1_000) },
      );
      print(operation, one.rate, other.rate, ratio);
      print('  ready, ms', one.readyMs, other.readyMs);
      print('  memory, MiB', one.memoryMib, other.memoryMib);
    }
    print('\ncommands, ms', revision.slice(0, 14), 'this version', 'ratio', 'of node -e 0');
    for (const { name, one, other, bare } of await timeCommands(earlier.root, root)) {
      print(name, one, other, other / one, other / bare);
    }
  } finally {
    earlier.remove();
  }
}

/** On this one machine the replicas share the cores with each other, the database and the load. */
async function asReplicas(): Promise<void> {
  const cluster = await openCluster().catch(endUnavailable);
  try {
    const fixture = await makeDatabase(1_000, cluster);
    print('\nPostgreSQL', 'one replica', 'two replicas', 'ratio');
    for (const operation of ['create-key once', 'get'] as const) {
      const { one, other, ratio } = await inTurns(
        operation,
        { server: 'lkm serve', fixture },
        { server: 'lkm serve', fixture, replicas: 2 },
      );
      print(operation, one.rate, other.rate, ratio);
    }
    await fixture.remove();
  } finally {
    await cluster.stop();
  }
}
