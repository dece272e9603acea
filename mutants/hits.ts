import type { Mutant } from './find.ts';

/** The name that an instrumented source calls; for the process of a test, `record-hits.ts` defines it. */
export const HIT = '__lkmMutantHit';

/** What one test file has reached. */
export interface Hits {
  readonly file: string;
  /** The number of its process. */
  readonly pid: number;
  readonly ms: number;
  readonly hits: readonly string[];
}

/**
 * What each instrumented source begins with. A process that a test starts writes down what it reaches at once, since it
 * may be killed, in a file that is named by the process of the test.
 */
const childrenWrite = (folder: string) =>
  `globalThis.${HIT} ??= ((known) => (id) => known.has(id) || (known.add(id), process.getBuiltinModule('node:fs')` +
  `.appendFileSync(${JSON.stringify(folder)} + '/' + process.ppid, id + '\\n')))(new Set()); `;

/** A source in which each mutant's site says that it is evaluated, to a file in `folder` where no test hears it. */
export function instrument(source: string, mutants: readonly Mutant[], folder: string): string {
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
    .reduceRight((written, { at, text }) => written.slice(0, at) + text + written.slice(at), source)
    .replace(/^(#!.*\n)?/, (first) => first + childrenWrite(folder));
}
