import { middle } from './figures.ts';
import { type Operation, type Running, type Side, start } from './measure.ts';

/** How often each side is loaded. */
export const TURNS = Number(process.env.LKM_BENCH_TURNS ?? 40);

/** How long each side is loaded at a time. */
export const TURN_SECONDS = 0.5;

/** Until then the compiler of a fresh process is still at work (`node --trace-opt`). */
export const WARM_UP_SECONDS = 12;

/** Loads both sides in short turns, each of them first in every other turn, and compares their rates. */
export async function inTurns(
  operation: Operation,
  one: Side,
  other: Side,
  { turns: count = TURNS, seconds = TURN_SECONDS } = {},
): Promise<Compared> {
  const sides = { one: await start(one), other: await start(other) };
  try {
    await sides.one.load(operation, WARM_UP_SECONDS);
    await sides.other.load(operation, WARM_UP_SECONDS);
    const rates: { one: number[]; other: number[] } = { one: [], other: [] };
    for (let turn = 0; turn < count; turn += 1) {
      for (const name of turn % 2 === 0 ? (['one', 'other'] as const) : (['other', 'one'] as const)) {
        rates[name].push(await sides[name].load(operation, seconds));
      }
    }
    return {
      one: summarise(sides.one, rates.one),
      other: summarise(sides.other, rates.other),
      ratio: middle(rates.other.map((rate, turn) => rate / (rates.one[turn] ?? Number.NaN))),
    };
  } finally {
    await sides.one.stop();
    await sides.other.stop();
  }
}

/** Two sides of one run. */
export interface Compared {
  readonly one: Measured;
  readonly other: Measured;
  /** How many times the rate of the one the other has. */
  readonly ratio: number;
}

interface Measured {
  /** Requests per second. */
  readonly rate: number;
  readonly readyMs: number;
  readonly memoryMib: number;
}

function summarise(side: Running, rates: readonly number[]): Measured {
  return { rate: middle(rates), readyMs: side.readyMs, memoryMib: side.peakMemoryMib() };
}
