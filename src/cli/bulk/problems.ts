import { UsageError } from '../failure/errors.ts';
import { count } from '../output/words.ts';
import type { Columns } from './columns.ts';
import type { Problem } from './read-file.ts';

const SHOWN = 20;
const MAX_SHOWN = 1_000;

/** The problems of a file: all are counted, the first ones are kept. */
export class Problems {
  count = 0;
  /** Whether a name was none of a column: then all of them are shown. */
  showsFields = false;
  readonly #ofFile: Problem[] = [];
  readonly #ofRows: Problem[] = [];

  add(problem: Problem): void {
    this.count += 1;
    const kept = problem.line === null ? this.#ofFile : this.#ofRows;
    if (kept.length < MAX_SHOWN) kept.push(problem);
  }

  /** The error for a file that cannot be sent as it is; `isWhole` shows as many problems as are kept. */
  error(name: string, { single, families }: Columns, isWhole: boolean): UsageError {
    const all = [...this.#ofFile, ...this.#ofRows.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))];
    const shown = all.slice(0, isWhole ? MAX_SHOWN : SHOWN);
    const more = this.count - shown.length;
    const how = this.count > MAX_SHOWN ? `${MAX_SHOWN} of them` : 'all';
    const fields = [...single.map(({ name }) => name), ...families.map(({ prefix }) => `${prefix}NAME`)];
    return new UsageError(`${name} has ${count(this.count, 'problem')}; nothing was sent`, [
      ...shown.map(({ line, text }) => (line === null ? text : `line ${line}: ${text}`)),
      ...(more > 0 ? [`and ${more} more${isWhole ? '' : `; --dry-run shows ${how}`}`] : []),
      ...(this.showsFields ? [`known fields: ${fields.join(', ')}`] : []),
    ]);
  }
}
