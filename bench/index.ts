import { type Fixture, makeDatabase } from './database.ts';
import { measure, type Operation, type Server } from './measure.ts';

// Prints requests per second over 32 connections. Only the ratios mean anything on another machine: both sides of
// each are measured in turns in this one run, and the middle one of their rounds counts.

const ROUNDS = Number(process.env.LKM_BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.LKM_BENCH_SECONDS ?? 5);

const small = await makeDatabase(1_000);
const large = await makeDatabase(200_000);
try {
  print('', 'bare node:http', 'lkm serve', 'ratio', 'goal');
  for (const operation of ['create-key', 'get', 'sign'] as const) {
    const [bare, lkm] = await inTurns(['bare-server', small], ['lkm-server', small], operation);
    print(operation, bare, lkm, lkm / bare, 0.7);
  }
  print('', '1 000 keys', '200 000 keys', 'ratio', 'goal');
  for (const operation of ['create-key', 'get'] as const) {
    const [few, many] = await inTurns(['lkm-server', small], ['lkm-server', large], operation);
    print(operation, few, many, many / few, 0.85);
  }
} finally {
  small.remove();
  large.remove();
}

async function inTurns(
  one: [Server, Fixture],
  other: [Server, Fixture],
  operation: Operation,
): Promise<[number, number]> {
  const rates: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    rates[0].push(await measure(one[0], operation, one[1], SECONDS));
    rates[1].push(await measure(other[0], operation, other[1], SECONDS));
  }
  return [middle(rates[0]), middle(rates[1])];
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function print(name: string, ...columns: (string | number)[]): void {
  const cells = columns.map((cell) =>
    typeof cell === 'string' ? cell : cell < 10 ? cell.toFixed(2) : cell.toFixed(0),
  );
  process.stdout.write(`${name.padEnd(12)}${cells.map((cell) => cell.padStart(16)).join('')}\n`);
}
