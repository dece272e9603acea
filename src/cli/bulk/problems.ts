import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { count } from '../output/words.ts';
import type { Column, Columns } from './columns.ts';
import type { Report } from './raw-row.ts';

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

/** How programs write that there is no date, where a column must hold one. */
const standsForNone =
  /^(?:0000-00-00|0001-01-01|1899-12-30|1899-12-31|1900-01-01|1970-01-01)(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|\+00(?::?00)?)?)?$/;

const hasZone = /(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)$/i;

/** Collects what is to be said of the dates of a file that can all be read. */
export function createDateNotes({ now }: Pick<Io, 'now'>) {
  const none = new Map<string, number>();
  let ended = 0;
  let local: string | null = null;
  return {
    /** Takes a cell, as it was written, as a date of ISO 8601 (null where it was no other form), and as it is sent. */
    see(text: string, iso: string | null, sent: unknown, { nullWord }: Column): void {
      if (iso?.includes('T') && /\d:\d\d/.test(text) && !hasZone.test(text)) local ??= text;
      // A column with a word for no date holds ends.
      if (nullWord === undefined || typeof sent !== 'string' || sent > new Date(now()).toISOString()) return;
      ended += 1;
      if (standsForNone.test(iso ?? text)) none.set(text, (none.get(text) ?? 0) + 1);
    },
    notes(noun: string): readonly string[] {
      return [
        ...[...none].map(
          ([text, rows]) =>
            `${count(rows, 'row')} with ${text} as the expiry: if that means no date, --no-date '${text}' takes it as never`,
        ),
        ...(ended === 0 ? [] : [`${count(ended, noun)} ${ended === 1 ? 'has' : 'have'} expired already`]),
        ...(local === null ? [] : [`times without a zone, such as ${local}, are read as UTC`]),
      ];
    },
  };
}
