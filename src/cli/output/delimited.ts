import { UsageError } from '../failure/errors.ts';
import { cellValue, type Field, rawCell } from './result.ts';

type Row = Record<string, unknown>;

/** Tab-separated, without a header: for `cut`, `awk` and `while read`. */
export const renderTsv = (fields: readonly Field[], rows: readonly Row[]): string =>
  rows.map((row) => `${fields.map((field) => rawCell(field, row)).join('\t')}\n`).join('');

/** Comma-separated with a header, quoted as in RFC 4180; a text that a spreadsheet would run gets an apostrophe. */
export async function renderCsv(
  fields: readonly Field[],
  rows: readonly Row[],
  { hasHeader = true }: { readonly hasHeader?: boolean } = {},
): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  const header = hasHeader ? [fields.map(({ name }) => name)] : [];
  const lines = rows.map((row) => fields.map((field) => csvCell(field, row)));
  return stringify([...header, ...lines], { escape_formulas: true });
}

/** Numbers stay numbers: a negative one is no formula. */
function csvCell(field: Field, row: Row): string | number {
  const value = cellValue(field, row);
  return typeof value === 'number' ? value : rawCell(field, row);
}

/** Lines for `eval`: `LKM_PRODUCT_ID='…'`. Throws `UsageError` for several rows, of which the last would be left. */
export function renderEnv(fields: readonly Field[], [row, ...others]: readonly Row[]): string {
  if (others.length > 0) throw severalAsEnv();
  if (row === undefined) return '';
  return fields.map((field) => `${variableName(field.name)}=${singleQuoted(rawCell(field, row))}\n`).join('');
}

/** The error for several rows in the format that sets variables. */
export const severalAsEnv = (): UsageError =>
  new UsageError('--format env sets variables from one row, and there are several', [
    'Use tsv, csv or jsonl, or a filter that leaves one.',
  ]);

const variableName = (name: string): string =>
  `LKM_${name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W/g, '_')
    .toUpperCase()}`;

const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
