import { middle } from './figures.ts';
import { type Operation, type Side, start } from './measure.ts';

/** How often each side is loaded. */
export const TURNS = Number(process.env.LKM_BENCH_TURNS ?? 40);

/** How long each side is loaded at a time. */
export const TURN_SECONDS = 0.5;

/** Until then the compiler of a fresh process is still at work (`node --trace-opt`). */
export const WARM_UP_SECONDS = 12;

/** Two sides of one run, and how many times the rate of the one the other has. */
export interface Compared {
  readonly one: Measured;
  readonly other: Measured;
  readonly ratio: number;
}

interface Measured {
  /** Requests per second. */
  readonly rate: number;
  readonly readyMs: number;
  readonly memoryMib: number;
}

/** Loads both sides in short turns, each of them first in every other turn, and compares their rates. */
export async function inTurns(
  operation: Operation,
  one: Side,
  other: Side,
  { turns = TURNS, seconds = TURN_SECONDS } = {},
): Promise<Compared> {
  const first = await open(one);
  const second = await open(other);
  const sides = [first, second];
  try {
    for (const { load } of sides) await load(operation, WARM_UP_SECONDS);
    for (let turn = 0; turn < turns; turn += 1) {
      for (const { load, rates } of turn % 2 === 0 ? sides : sides.toReversed()) {
        rates.push(await load(operation, seconds));
      }
    }
    const ratios = second.rates.map((rate, turn) => rate / (first.rates[turn] ?? Number.NaN));
    return { one: first.measured(), other: second.measured(), ratio: middle(ratios) };
  } finally {
    for (const side of sides) await side.stop();
  }
}

async function open(side: Side) {
  const { load, stop, readyMs, peakMemoryMib } = await start(side);
  const rates: number[] = [];
  const measured = (): Measured => ({ rate: middle(rates), readyMs, memoryMib: peakMemoryMib() });
  return { load, stop, rates, measured };
}
