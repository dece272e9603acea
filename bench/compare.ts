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
    const turns: { one: number; other: number }[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      const isOneFirst = turn % 2 === 0;
      const first = await sides[isOneFirst ? 'one' : 'other'].load(operation, seconds);
      const second = await sides[isOneFirst ? 'other' : 'one'].load(operation, seconds);
      turns.push(isOneFirst ? { one: first, other: second } : { one: second, other: first });
    }
    return {
      one: summarise(
        sides.one,
        turns.map((turn) => turn.one),
      ),
      other: summarise(
        sides.other,
        turns.map((turn) => turn.other),
      ),
      ratio: middle(turns.map((turn) => turn.other / turn.one)),
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

/** The one in the middle. */
export function middle(figures: readonly number[]): number {
  const figure = figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)];
  if (figure === undefined) throw new Error('nothing was measured');
  return figure;
}
