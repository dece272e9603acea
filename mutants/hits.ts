import type { Mutant } from './find.ts';

/** The name that an instrumented source calls, and `record-hits.ts` defines. */
export const HIT = '__lkmMutantHit';

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
  let written = '';
  let from = 0;
  for (const { at, text } of marks.sort((a, b) => a.at - b.at || a.order - b.order)) {
    written += source.slice(from, at) + text;
    from = at;
  }
  return written + source.slice(from);
}
