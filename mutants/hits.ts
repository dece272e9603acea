import type { Mutant } from './find.ts';

/** The name that an instrumented source calls, and `record-hits.ts` defines. */
export const HIT = '__lkmMutantHit';

/** What one test file has reached. */
export interface Hits {
  readonly file: string;
  readonly ms: number;
  readonly hits: readonly string[];
}

/** A source in which each mutant's site says that it is evaluated. */
export function instrument(source: string, mutants: readonly Mutant[]): string {
  // Where several begin or end at one place, the longer one is outside.
  const marks = mutants.flatMap(({ id, site }) => {
    const length = site.end - site.start;
    return [
      { at: site.start, order: -length, text: `(globalThis.${HIT}?.('${id}'), ` },
      { at: site.end, order: length - Number.MAX_SAFE_INTEGER, text: ')' },
    ];
  });
  // From the end, so that the places before stay where they are.
  return marks
    .sort((a, b) => a.at - b.at || a.order - b.order)
    .reduceRight((written, { at, text }) => written.slice(0, at) + text + written.slice(at), source);
}
