import { UsageError } from '../failure/errors.ts';
import { count } from '../output/words.ts';

/** One thing wrong with a file; `line` is null for the file as a whole. */
export interface Problem {
  readonly line: number | null;
  readonly text: string;
}

/** So many are shown unless all of them are asked for. */
const SHOWN = 20;

/** The error for a file that cannot be sent as it is. All problems are found before anything is sent. */
export function badFile(name: string, problems: readonly Problem[], { all }: { readonly all: boolean }): UsageError {
  const sorted = problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const shown = all ? sorted : sorted.slice(0, SHOWN);
  const more = sorted.length - shown.length;
  return new UsageError(`${name} has ${count(problems.length, 'problem')}; nothing was sent`, [
    ...shown.map(({ line, text }) => (line === null ? text : `line ${line}: ${text}`)),
    ...(more > 0 ? [`and ${more} more; --dry-run shows all`] : []),
  ]);
}
