import fc from 'fast-check';
import type { Engine } from '../support/engines.ts';
import { createWorld } from '../support/world.ts';
import { sequences } from './operations.ts';
import { play } from './play.ts';

/** What a check found: how many sequences agreed, and the shortest that did not. */
export interface Checked {
  readonly sequences: number;
  /** Requests, each with what the service answered, and then the difference; null when there is none. */
  readonly difference: string | null;
}

/** Plays random sequences in one database, each with products of its own, until one differs from the model. */
export async function checkSequences(
  engine: Engine,
  { count, seed }: { count: number; seed: number },
): Promise<Checked> {
  await using world = await createWorld({ engine, perMinute: 1e9, lookupsPerMinute: null });
  let played = 0;
  const property = fc.asyncProperty(sequences, async (moves) => {
    played += 1;
    await play(world, `s${played}`, moves);
  });
  const result = await fc.check(property, { numRuns: count, seed });
  if (!result.failed) return { sequences: result.numRuns, difference: null };
  const { errorInstance } = result;
  return {
    sequences: result.numRuns,
    difference: errorInstance instanceof Error ? errorInstance.message : String(errorInstance),
  };
}
