import { createRandom } from '../faults/random.ts';
import type { Mutant } from './find.ts';

/**
 * Chooses `count` mutants, the same ones for the same seed: each file has one at least, and larger files have more. The
 * first mutant of every line of a file comes before the second of any of its lines.
 */
export function sample(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const random = createRandom(seed);
  const shuffled = mutants.map((mutant) => ({ mutant, rank: random.below(2 ** 32) })).sort((a, b) => a.rank - b.rank);
  const queue = [...Map.groupBy(shuffled, ({ mutant }) => mutant.file).values()].flatMap((all) => {
    const lines = Map.groupBy(all, ({ mutant }) => mutant.line);
    const turns = [...lines.values()].flatMap((line) => line.map(({ mutant, rank }, turn) => ({ mutant, rank, turn })));
    // A mutant is due when its file has had fewer than its share; the first one of a file is due at once.
    return turns
      .sort((a, b) => a.turn - b.turn || a.rank - b.rank)
      .map(({ mutant }, index) => ({ mutant, due: index === 0 ? 0 : (index + 0.5) / all.length }));
  });
  const chosen = queue.sort((a, b) => a.due - b.due).slice(0, count);
  return chosen
    .map(({ mutant }) => mutant)
    .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start));
}
