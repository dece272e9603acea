import { UsageError } from '../failure/errors.ts';
import { count } from '../output/words.ts';
import type { Columns } from './columns.ts';
import type { Report } from './read-file.ts';

const SHOWN = 20;
const MAX_SHOWN = 1_000;

/** The problems of a file: all are counted, the first ones of its rows are kept. */
export class Problems {
  count = 0;
  /** Whether a name was none of a column: then all of them are shown. */
  showsFields = false;
  /** What would help, below all problems. */
  readonly hints: string[] = [];
  readonly #kept: { readonly line: number | null; readonly text: string }[] = [];

  /** Whether a row that has a problem is left out, with what is wrong with it; else it stops the file. */
  skipsRows = false;
  readonly skipped = new Map<number, string[]>();

  readonly add: Report = (line, text) => {
    if (this.skipsRows && line !== null) {
      this.skipped.set(line, [...(this.skipped.get(line) ?? []), text]);
      return;
    }
    this.count += 1;
    if (line === null || this.#kept.length < MAX_SHOWN) this.#kept.push({ line, text });
  };

  /** Which rows were left out, and why. */
  skippedNotes(): readonly string[] {
    const notes = [...this.skipped].map(([line, texts]) => `left out line ${line}: ${texts.join('; ')}`);
    const more = notes.length - SHOWN;
    return [...notes.slice(0, SHOWN), ...(more > 0 ? [`left out ${count(more, 'more row')}`] : [])];
  }

  /** The error for a file that cannot be sent as it is; `isWhole` shows as many problems as are kept. */
  error(name: string, { single, families }: Columns, isWhole: boolean): UsageError {
    const sorted = this.#kept.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
    const shown = sorted.slice(0, isWhole ? MAX_SHOWN : SHOWN);
    const more = this.count - shown.length;
    const how = this.count > MAX_SHOWN ? `${MAX_SHOWN} of them` : 'all';
    const fields = [...single.map(({ name }) => name), ...families.map(({ prefix }) => `${prefix}NAME`)];
    return new UsageError(`${name} has ${count(this.count, 'problem')}; nothing was sent`, [
      ...shown.map(({ line, text }) => (line === null ? text : `line ${line}: ${text}`)),
      ...(more > 0 ? [`and ${more} more${isWhole ? '' : `; --dry-run shows ${how}`}`] : []),
      ...this.hints,
      ...(this.showsFields ? [`known fields: ${fields.join(', ')}`] : []),
    ]);
  }
}
