import { createRandom } from '../faults/random.ts';
import type { Mutant } from './find.ts';

/** Chooses `count` mutants, the same ones for the same seed: each file has one at least, and larger files have more. */
export function sample(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const random = createRandom(seed);
  const shuffled = mutants.map((mutant) => ({ mutant, rank: random.below(2 ** 32) })).sort((a, b) => a.rank - b.rank);
  const byFile = Map.groupBy(shuffled, ({ mutant }) => mutant.file);
  // A mutant is due when its file has had fewer than its share; the first one of a file is due at once.
  const queue = [...byFile.values()].flatMap((all) =>
    spread(all.map(({ mutant }) => mutant)).map((mutant, index) => ({
      mutant,
      due: index === 0 ? 0 : (index + 0.5) / all.length,
    })),
  );
  const chosen = queue.sort((a, b) => a.due - b.due).slice(0, count);
  return chosen
    .map(({ mutant }) => mutant)
    .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start));
}

/** Orders mutants so that the first of every line comes before the second of any line. */
function spread(mutants: readonly Mutant[]): Mutant[] {
  const seen = new Map<number, number>();
  return mutants
    .map((mutant) => {
      const turn = seen.get(mutant.line) ?? 0;
      seen.set(mutant.line, turn + 1);
      return { mutant, turn };
    })
    .sort((a, b) => a.turn - b.turn)
    .map(({ mutant }) => mutant);
}
