import type { Instant } from '../contract/scalars.ts';

/** So many equal refusals of an hour are recorded one by one. */
const RECORDED_SINGLY = 10;

/** More different refusals in an hour than a server keeps apart by their resource. */
const MAX_COUNTED = 10_000;

/** A refusal; equal ones have the same words in the same hour. */
interface Refusal {
  readonly at: Instant;
  /** Who was refused, and what; the resource comes last. */
  readonly words: readonly string[];
}

/**
 * Makes the counts of one process. Counts a refusal and returns how many equal ones there were in this hour when it is to
 * be recorded: the first ten, then the 20th, the 40th and so on. Else null: whoever repeats a refused request must not fill
 * a log from which nothing is ever removed.
 */
export function createRefusalCounts(): (refusal: Refusal) => number | null {
  const counts = new Map<string, number>();
  let hour = '';
  return ({ at, words }) => {
    const present = at.slice(0, 13);
    if (present !== hour) counts.clear();
    hour = present;
    const exact = JSON.stringify(words);
    const key = counts.has(exact) || counts.size < MAX_COUNTED ? exact : JSON.stringify(words.slice(0, -1));
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= RECORDED_SINGLY || Number.isInteger(Math.log2(count / RECORDED_SINGLY)) ? count : null;
  };
}
