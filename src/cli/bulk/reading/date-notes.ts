import type { Io } from '../../io.ts';
import { count } from '../../output/words.ts';
import type { Column } from './columns.ts';

/** A cell with a date: as written, as ISO 8601 (null if it was written so), and as sent. */
export interface DateCell {
  readonly text: string;
  readonly iso: string | null;
  readonly sent: unknown;
  readonly column: Column;
}

/** Collects notes on the dates of a file. */
export function createDateNotes({ now }: Pick<Io, 'now'>) {
  const none = new Map<string, number>();
  let ended = 0;
  let local: string | null = null;
  return {
    see({ text, iso, sent, column }: DateCell): void {
      if (iso?.includes('T') && /\d:\d\d/.test(text) && !hasZone.test(text)) local ??= text;
      // A column with a word for no date holds ends.
      if (column.nullWord === undefined || typeof sent !== 'string' || sent > new Date(now()).toISOString()) return;
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

/** How programs write that there is no date in a column that must have one. */
const standsForNone =
  /^(?:0000-00-00|0001-01-01|1899-12-30|1899-12-31|1900-01-01|1970-01-01)(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|\+00(?::?00)?)?)?$/;

const hasZone = /(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)$/i;
