import type { RawRow } from '../raw-row.ts';
import type { Source } from './preset.ts';

/** A name without case and punctuation: `Fully Refunded?` and `fully_refunded` are the same. */
export const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** The values of a row by the plain names of their columns. */
export type Values = ReadonlyMap<string, unknown>;

export const valuesOf = ({ cells }: Pick<RawRow, 'cells'>): Values =>
  new Map(cells.map(([name, value]) => [plain(name), value] as const).toReversed());

/** Whether there is no value; databases and spreadsheets write words for it. */
export const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : noValue.test(String(value ?? '').trim());

const noValue = /^(?:|NULL|null|\\N|N\/A|n\/a|-|\[\]|\{\})$/;

/** The first value of a source that is not empty; undefined for none. */
export function firstOf(values: Values, source: Source): unknown {
  for (const column of [source].flat()) {
    const found = column
      .split(' + ')
      .map((one) => values.get(plain(one)))
      .filter((value) => !isEmpty(value));
    if (found.length > 1) return found.join(' ');
    if (found.length === 1) return found[0];
  }
  return undefined;
}

export const wordOf = (value: unknown): string =>
  String(value ?? '')
    .trim()
    .toLowerCase();

export const isTrue = (value: unknown): boolean => ['true', '1', 'yes', 'y', 't'].includes(wordOf(value));
