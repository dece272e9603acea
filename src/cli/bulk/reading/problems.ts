import { UsageError } from '../../failure/errors.ts';
import { count } from '../../output/words.ts';

/** One thing wrong with a file; `line` is null for the file as a whole. */
export interface Problem {
  readonly line: number | null;
  readonly text: string;
  /** What helps with it, and perhaps with those before it. */
  readonly hint?: string;
}

/** The problems of a file: all are counted, the first ones are kept. */
export interface Problems {
  add(problem: Problem): void;
  readonly count: number;
  readonly kept: readonly Problem[];
}

/** How many are shown by default, and when all of them are asked for. */
const SHOWN = 20;
const MAX_SHOWN = 1_000;

export function collectProblems(): Problems {
  const ofFile: Problem[] = [];
  const ofRows: Problem[] = [];
  let added = 0;
  return {
    add: (problem) => {
      added += 1;
      const kept = problem.line === null ? ofFile : ofRows;
      if (kept.length < MAX_SHOWN) kept.push(problem);
    },
    get count() {
      return added;
    },
    get kept() {
      return [...ofFile, ...ofRows.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))].slice(0, MAX_SHOWN);
    },
  };
}

/** The error for a file that cannot be sent as it is. All problems are found before anything is sent. */
export function badFile(name: string, { count: all, kept }: Problems, isWhole: boolean): UsageError {
  const shown = isWhole ? kept : kept.slice(0, SHOWN);
  const more = all - shown.length;
  const how = all > MAX_SHOWN ? `--dry-run shows ${MAX_SHOWN} of them` : '--dry-run shows all';
  return new UsageError(`${name} has ${count(all, 'problem')}; nothing was sent`, [
    ...shown.flatMap(({ line, text, hint }) => [
      line === null ? text : `line ${line}: ${text}`,
      ...(hint === undefined ? [] : [hint]),
    ]),
    ...(more > 0 ? [isWhole ? `and ${more} more` : `and ${more} more; ${how}`] : []),
  ]);
}
