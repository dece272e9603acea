import { cellValue, rawCell } from './cells.ts';
import type { Field } from './result.ts';

type Row = Record<string, unknown>;

/** Tab-separated, without a header: for `cut`, `awk` and `while read`. */
export const renderTsv = (fields: readonly Field[], rows: readonly Row[]): string =>
  rows.map((row) => `${fields.map((field) => rawCell(field, row)).join('\t')}\n`).join('');

/** Comma-separated with a header (RFC 4180): for spreadsheets. */
export function renderCsv(fields: readonly Field[], rows: readonly Row[]): string {
  const header = fields.map(({ name }) => name);
  const lines = rows.map((row) => fields.map((field) => csvCell(field, row)));
  return [header, ...lines].map((line) => `${line.join(',')}\n`).join('');
}

/** A spreadsheet runs a text that begins like a formula; an apostrophe before it keeps it text. */
function csvCell(field: Field, row: Row): string {
  const text = rawCell(field, row);
  const neutral = typeof cellValue(field, row) === 'string' && /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",]/.test(neutral) ? `"${neutral.replaceAll('"', '""')}"` : neutral;
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
