import type { Random } from './random.ts';

/** A fault of a run: what happens, and when, as a share of the run from 0 to 1. */
interface PlannedFault<K extends string> {
  readonly at: number;
  readonly kind: K;
}

/** Plans so many faults of each kind, in order of time: evenly over the run, and each a little at random. */
export function spread<K extends string>(counts: Readonly<Record<K, number>>, random: Random): PlannedFault<K>[] {
  const kinds = Object.keys(counts) as K[];
  const faults = kinds.flatMap((kind) =>
    Array.from({ length: counts[kind] }, (_, index) => ({
      at: (index + random.below(1_000) / 1_000) / counts[kind],
      kind,
    })),
  );
  return faults.sort((one, other) => one.at - other.at);
}
