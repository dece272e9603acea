import { openCluster } from '../faults/cluster.ts';
import { makeDatabase } from './database.ts';
import { type Measured, measure, type Operation, type Side } from './measure.ts';

// Prints requests per second over 32 connections. Only the ratios mean anything on another machine: both sides of
// each are measured in turns in this one run, and the middle one of their rounds counts.
//
//   npm run bench              beside bare node:http, with slow commits, at 1 000 and 200 000 keys, one and two replicas
//   npm run bench -- million   at 1 000 and 1 000 000 keys: rates, time to start, memory

const ROUNDS = Number(process.env.LKM_BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.LKM_BENCH_SECONDS ?? 5);

if (process.argv[2] === 'million') await atSizes(1_000_000, '1 000 000 keys');
else {
  await besideBareHttp();
  await withSlowCommits();
  await atSizes(200_000, '200 000 keys');
  await asReplicas();
}

async function besideBareHttp(): Promise<void> {
  const fixture = () => makeDatabase(1_000);
  print('', 'bare node:http', 'lkm serve', 'ratio', 'goal');
  for (const [operation, goal] of [
    ['create-key', 0.7],
    ['create-key once', 0.8],
    ['get', 0.7],
    ['sign', 0.7],
  ] as const) {
    const [bare, lkm] = await inTurns(operation, { server: 'bare', fixture }, { server: 'lkm serve', fixture });
    print(operation, bare.rate, lkm.rate, lkm.rate / bare.rate, goal);
  }
}

async function withSlowCommits(): Promise<void> {
  print('\nsync + 2 ms', 'one by one', 'lkm serve', 'ratio', 'goal');
  const fixture = () => makeDatabase(1_000);
  const [single, grouped] = await inTurns(
    'create-key once',
    { server: 'single-commit', fixture, slowDisk: true },
    { server: 'lkm serve', fixture, slowDisk: true },
  );
  print('create-key once', single.rate, grouped.rate, grouped.rate / single.rate, 3);
}

async function atSizes(count: number, name: string): Promise<void> {
  const large = await makeDatabase(count);
  try {
    print('\n', '1 000 keys', name, 'ratio', 'goal');
    for (const operation of ['create-key', 'get'] as const) {
      const [few, many] = await inTurns(
        operation,
        { server: 'lkm serve', fixture: () => makeDatabase(1_000) },
        { server: 'lkm serve', fixture: large },
      );
      print(operation, few.rate, many.rate, many.rate / few.rate, 0.85);
      print('  ready, ms', few.readyMs, many.readyMs);
      print('  memory, MiB', few.memoryMib, many.memoryMib);
    }
  } finally {
    await large.remove();
  }
}

/** On this one machine the replicas share the cores with each other, the database and the load. */
async function asReplicas(): Promise<void> {
  const cluster = await openCluster();
  try {
    const fixture = await makeDatabase(1_000, cluster);
    print('\nPostgreSQL', 'one replica', 'two replicas', 'ratio');
    for (const operation of ['create-key once', 'get'] as const) {
      const [one, two] = await inTurns(
        operation,
        { server: 'lkm serve', fixture },
        { server: 'lkm serve', fixture, replicas: 2 },
      );
      print(operation, one.rate, two.rate, two.rate / one.rate);
    }
    await fixture.remove();
  } finally {
    await cluster.close();
  }
}

async function inTurns(operation: Operation, one: Side, other: Side): Promise<[Measured, Measured]> {
  const rounds: [Measured[], Measured[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, side] of [one, other].entries()) {
      rounds[index]?.push(await measure(side, operation, SECONDS));
    }
  }
  return [middle(rounds[0]), middle(rounds[1])];
}

/** The round whose rate is the middle one. */
function middle(rounds: readonly Measured[]): Measured {
  const round = rounds.toSorted((a, b) => a.rate - b.rate)[Math.floor(rounds.length / 2)];
  if (round === undefined) throw new Error('nothing was measured');
  return round;
}

function print(name: string, ...columns: (string | number)[]): void {
  const cells = columns.map((cell) =>
    typeof cell === 'string' ? cell : cell < 10 ? cell.toFixed(2) : cell.toFixed(0),
  );
  process.stdout.write(
    `${name.padEnd(name.startsWith('\n') ? 17 : 16)}${cells.map((cell) => cell.padStart(16)).join('')}\n`,
  );
}
