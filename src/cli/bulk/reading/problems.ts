import { basename } from 'node:path';
import { UsageError } from '../../failure/errors.ts';
import { count } from '../../output/words.ts';
import type { Columns } from './columns.ts';
import { LINES_PER_FILE, type Report } from './raw-row.ts';

/** How many problems of one kind are shown. */
const SHOWN_OF_A_KIND = 10;

/** Problems of one kind differ only in their values. */
const kindOf = (text: string): string => text.replaceAll(/'[^']*'|\S+@\S+|\d+/g, '…');

/** The problems of files: counted by kind; the first problems of each kind are kept. */
export class Problems {
  count = 0;
  /** Whether the error lists the known fields, because a column has an unknown name. */
  showsFields = false;
  /** Advice, shown before the problems. */
  readonly hints: string[] = [];
  readonly #files: readonly string[];
  readonly #kinds = new Map<
    string,
    { count: number; readonly kept: { readonly line: number | null; readonly text: string }[] }
  >();

  /** Whether rows with problems are left out; otherwise a problem refuses the whole file. */
  skipsRows = false;
  readonly skipped = new Map<number, string[]>();

  constructor(files: readonly string[]) {
    this.#files = files.map((file) => basename(file));
  }

  readonly add: Report = (line, text) => {
    if (this.skipsRows && line !== null) {
      this.skipped.set(line, [...(this.skipped.get(line) ?? []), text]);
      return;
    }
    this.count += 1;
    const kind = this.#kinds.get(kindOf(text)) ?? { count: 0, kept: [] };
    this.#kinds.set(kindOf(text), kind);
    kind.count += 1;
    if (kind.kept.length < SHOWN_OF_A_KIND) kind.kept.push({ line, text });
  };

  /** Ends the skipping of rows. If no row can be sent, the problems of the skipped rows count too. */
  endSkipping(hasRows: boolean): void {
    this.skipsRows = false;
    if (hasRows) return;
    for (const [line, texts] of this.skipped) for (const text of texts) this.add(line, text);
  }

  /** A line, with the name of its file if there are several files. */
  readonly place = (line: number): string => {
    const file = this.#files.length > 1 ? `${this.#files[Math.floor(line / LINES_PER_FILE)]} ` : '';
    return `${file}line ${line % LINES_PER_FILE}`;
  };

  /** Which rows were left out, and why: the first ones of each kind. */
  skippedNotes(): readonly string[] {
    const rows = [...this.skipped].map(([line, texts]) => ({ line, why: texts.join('; ') }));
    const kinds = Map.groupBy(rows, ({ why }) => kindOf(why));
    return [...kinds.values()].flatMap((alike) => {
      const notes = alike.slice(0, SHOWN_OF_A_KIND).map(({ line, why }) => `left out ${this.place(line)}: ${why}`);
      const more = alike.length - notes.length;
      return more > 0 ? [...notes, `left out ${count(more, 'more row')} of that kind`] : notes;
    });
  }

  /** The error for files that cannot be sent as they are. */
  error(name: string, { single, families }: Columns): UsageError {
    const shown = [...this.#kinds.values()]
      .flatMap(({ count, kept }) =>
        kept.map((problem, at) => ({ ...problem, more: at === SHOWN_OF_A_KIND - 1 ? count - SHOWN_OF_A_KIND : 0 })),
      )
      .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
    const fields = [...single.map(({ name }) => name), ...families.map(({ prefix }) => `${prefix}NAME`)];
    const have = this.#files.length > 1 ? 'have' : 'has';
    return new UsageError(`${name} ${have} ${count(this.count, 'problem')}; nothing was sent`, [
      ...this.hints,
      ...shown.flatMap(({ line, text, more }) => [
        line === null ? text : `${this.place(line)}: ${text}`,
        ...(more > 0 ? [`and ${more} more of that kind`] : []),
      ]),
      ...(this.showsFields ? [`known fields: ${fields.join(', ')}`] : []),
    ]);
  }
}
