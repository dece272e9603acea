import { middle, quantile, sum } from './figures.ts';
import { type Operation, type Side, start } from './measure.ts';

/** How often each side is loaded. */
const TURNS = Number(process.env.LKM_BENCH_TURNS ?? 40);

/** How long each side is loaded at a time. */
const TURN_SECONDS = 0.5;

/** How long each side is loaded before that, in the same turns: its first seconds, while the compiler is at work. */
const WARM_UP_SECONDS = Number(process.env.LKM_BENCH_WARM_UP ?? 10);

/** Two sides of one run, and how many times the figure of the one the other has. */
export interface Compared {
  readonly one: Measured;
  readonly other: Measured;
  /** Of their rates. */
  readonly ratio: number;
  /** Of what they did in the first seconds after their start. */
  readonly coldRatio: number;
  /** Of the time that 99 of 100 responses took at most. */
  readonly p99Ratio: number;
}

interface Measured {
  /** Requests per second. */
  readonly rate: number;
  readonly readyMs: number;
  readonly memoryMib: number;
}

/** Loads both sides in short turns, each of them first in every other turn, and compares them. */
export async function inTurns(operation: Operation, one: Side, other: Side): Promise<Compared> {
  const first = await open(one);
  const second = await open(other);
  const sides = [first, second];
  const coldTurns = Math.ceil(WARM_UP_SECONDS / TURN_SECONDS);
  try {
    for (let turn = -coldTurns; turn < TURNS; turn += 1) {
      for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
        const { rate, latencies } = await side.load(operation, TURN_SECONDS);
        (turn < 0 ? side.coldRates : side.rates).push(rate);
        if (turn >= 0) side.latencies.push(...latencies);
      }
    }
    const ratios = second.rates.map((rate, turn) => rate / (first.rates[turn] ?? Number.NaN));
    return {
      one: first.measured(),
      other: second.measured(),
      ratio: middle(ratios),
      coldRatio: sum(second.coldRates) / sum(first.coldRates),
      p99Ratio: quantile(second.latencies, 0.99) / quantile(first.latencies, 0.99),
    };
  } finally {
    for (const side of sides) await side.stop();
  }
}

async function open(side: Side) {
  const { load, stop, readyMs, peakMemoryMib } = await start(side);
  const rates: number[] = [];
  const measured = (): Measured => ({ rate: middle(rates), readyMs, memoryMib: peakMemoryMib() });
  return { load, stop, rates, coldRates: [] as number[], latencies: [] as number[], measured };
}
