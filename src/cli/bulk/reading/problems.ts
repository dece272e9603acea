import { UsageError } from '../../failure/errors.ts';
import { count } from '../../output/words.ts';

/** One thing wrong with a file; `line` is null for the file as a whole. */
export interface Problem {
  readonly line: number | null;
  readonly text: string;
  /** What helps with it, and with those before it. */
  readonly hint?: string;
}

/** The problems of a file: all are counted, the first ones are kept. */
export type Problems = ReturnType<typeof collectProblems>;

/** How many are shown by default, and when all of them are asked for. */
const SHOWN = 20;
const MAX_SHOWN = 1_000;

export function collectProblems() {
  const ofFile: Problem[] = [];
  const ofRows: Problem[] = [];
  let count = 0;
  return {
    add: (problem: Problem): void => {
      count += 1;
      const kept = problem.line === null ? ofFile : ofRows;
      if (kept.length < MAX_SHOWN) kept.push(problem);
    },
    get count() {
      return count;
    },
    /** Those of the file, then those of its rows by their lines. */
    first: (limit: number): Problem[] =>
      [...ofFile, ...ofRows.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))].slice(0, limit),
  };
}

/** The error for a file that cannot be sent as it is; `isWhole` shows as many problems as are kept. */
export function badFile(name: string, problems: Problems, isWhole: boolean): UsageError {
  const shown = problems.first(isWhole ? MAX_SHOWN : SHOWN);
  const more = problems.count - shown.length;
  const how = problems.count > MAX_SHOWN ? `${MAX_SHOWN} of them` : 'all';
  return new UsageError(`${name} has ${count(problems.count, 'problem')}; nothing was sent`, [
    ...shown.flatMap(({ line, text, hint }) => [line === null ? text : `line ${line}: ${text}`, hint ?? []].flat()),
    ...(more > 0 ? [`and ${more} more${isWhole ? '' : `; --dry-run shows ${how}`}`] : []),
  ]);
}
