import { cellValue, type Field, rawCell } from './result.ts';

type Row = Record<string, unknown>;

/** Tab-separated, without a header: for `cut`, `awk` and `while read`. */
export const renderTsv = (fields: readonly Field[], rows: readonly Row[]): string =>
  rows.map((row) => `${fields.map((field) => rawCell(field, row)).join('\t')}\n`).join('');

/** Comma-separated with a header, quoted as in RFC 4180; a text that a spreadsheet would run gets an apostrophe. */
export async function renderCsv(fields: readonly Field[], rows: readonly Row[]): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  const lines = rows.map((row) => fields.map((field) => csvCell(field, row)));
  return stringify([fields.map(({ name }) => name), ...lines], { escape_formulas: true });
}

/** Numbers stay numbers: a negative one is no formula. */
function csvCell(field: Field, row: Row): string | number {
  const value = cellValue(field, row);
  return typeof value === 'number' ? value : rawCell(field, row);
}

/** Lines for `eval`: `LKM_PRODUCT_ID='…'`; several rows follow one another. */
export const renderEnv = (fields: readonly Field[], rows: readonly Row[]): string =>
  rows
    .flatMap((row) => fields.map((field) => `${variableName(field.name)}=${singleQuoted(rawCell(field, row))}\n`))
    .join('');

const variableName = (name: string): string =>
  `LKM_${name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W/g, '_')
    .toUpperCase()}`;

const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
