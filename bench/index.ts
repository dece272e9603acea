import { openCluster } from '../faults/cluster.ts';
import { makeDatabase } from './database.ts';
import { type Measured, measure, type Operation, type Side } from './measure.ts';

// Prints requests per second over 32 connections. Only the ratios mean anything on another machine: both sides of
// each are measured in turns in this one run. A ratio is the middle one of those of the rounds, since a machine that
// others share is not equally fast from one round to the next.
//
//   npm run bench              beside bare node:http, with slow commits, at 1 000 and 200 000 keys, one and two replicas
//   npm run bench -- million   at 1 000 and 1 000 000 keys: rates, time to start, memory

const ROUNDS = Number(process.env.LKM_BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.LKM_BENCH_SECONDS ?? 4);

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
    const { one, other, ratio } = await inTurns(
      operation,
      { server: 'bare', fixture },
      { server: 'lkm serve', fixture },
    );
    print(operation, one.rate, other.rate, ratio, goal);
  }
}

async function withSlowCommits(): Promise<void> {
  print('\nsync + 2 ms', 'one by one', 'lkm serve', 'ratio', 'goal');
  const fixture = () => makeDatabase(1_000);
  const { one, other, ratio } = await inTurns(
    'create-key once',
    { server: 'single-commit', fixture, slowDisk: true },
    { server: 'lkm serve', fixture, slowDisk: true },
  );
  print('create-key once', one.rate, other.rate, ratio, 3);
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

/** On this one machine the replicas share the cores with each other, the database and the load. */
async function asReplicas(): Promise<void> {
  const cluster = await openCluster();
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
    await cluster.close();
  }
}

async function inTurns(operation: Operation, one: Side, other: Side): Promise<Compared> {
  const rounds: { one: Measured; other: Measured }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({
      one: await measure(one, operation, SECONDS),
      other: await measure(other, operation, SECONDS),
    });
  }
  return {
    one: summarise(rounds.map((round) => round.one)),
    other: summarise(rounds.map((round) => round.other)),
    ratio: middle(rounds.map((round) => round.other.rate / round.one.rate)),
  };
}

/** Two sides of one run. */
interface Compared {
  readonly one: Measured;
  readonly other: Measured;
  /** How many times the rate of the one the other has. */
  readonly ratio: number;
}

/** The middle of the rates and of the starts, and the most memory. */
function summarise(rounds: readonly Measured[]): Measured {
  return {
    rate: middle(rounds.map(({ rate }) => rate)),
    memoryMib: Math.max(...rounds.map(({ memoryMib }) => memoryMib)),
    readyMs: middle(rounds.map(({ readyMs }) => readyMs)),
  };
}

function middle(figures: readonly number[]): number {
  const figure = figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)];
  if (figure === undefined) throw new Error('nothing was measured');
  return figure;
}

function print(name: string, ...columns: (string | number)[]): void {
  const cells = columns.map((cell) =>
    typeof cell === 'string' ? cell : cell < 10 ? cell.toFixed(2) : cell.toFixed(0),
  );
  process.stdout.write(
    `${name.padEnd(name.startsWith('\n') ? 17 : 16)}${cells.map((cell) => cell.padStart(16)).join('')}\n`,
  );
}
