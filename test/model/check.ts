import fc from 'fast-check';
import type { Engine } from '../support/engines.ts';
import { createWorld } from '../support/world.ts';
import { sequences } from './operations.ts';
import { type Count, play } from './play.ts';

/** What a check found: how many sequences agreed, and the shortest that did not. */
export interface Checked {
  readonly sequences: number;
  /** Requests, each with what the service answered, and then the difference; null when there is none. */
  readonly difference: string | null;
  /** How often each request was answered in which way. */
  readonly outcomes: ReadonlyMap<string, number>;
}

/** Plays random sequences in one database, each with products of its own, until one differs from the model. */
export async function checkSequences(engine: Engine, { runs, seed }: { runs: number; seed: number }): Promise<Checked> {
  await using world = await createWorld({ engine, perMinute: 1e9, lookupsPerMinute: null });
  let played = 0;
  const outcomes = new Map<string, number>();
  const count: Count = (request, outcome) => {
    const name = `${request} → ${outcome}`;
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
  };
  const property = fc.asyncProperty(sequences, async (moves) => {
    played += 1;
    // Their clock may have been ahead, and a list of sessions looks through all that have not ended.
    await world.sql('delete from sessions');
    await play(world, `s${played}`, moves, count);
  });
  const result = await fc.check(property, { numRuns: runs, seed });
  if (!result.failed) return { sequences: result.numRuns, difference: null, outcomes };
  const { errorInstance } = result;
  return {
    sequences: result.numRuns,
    difference: errorInstance instanceof Error ? errorInstance.message : String(errorInstance),
    outcomes,
  };
}
