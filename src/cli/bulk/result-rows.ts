import { cellValue, type Field } from '../output/result.ts';
import type { BulkOperation } from './operation.ts';
import { errorField } from './options.ts';
import type { Layout } from './reading/raw-row.ts';
import type { SentRow } from './send-rows.ts';

/** The result of a row, with the values of all its fields. */
export interface ResultRow extends Record<string, unknown> {
  readonly row: number;
  readonly line: number | null;
  readonly status: string;
  /** The values of the columns of the file. */
  readonly input: readonly unknown[];
  readonly error?: SentRow['error'];
}

export function resultRow(
  { done }: BulkOperation,
  { row, line, body, outcome, error, isUnknown, input }: SentRow,
  { names, isByPlace }: Layout,
): ResultRow {
  const byName = new Map(input);
  return {
    key: body.licenseKey,
    ...body,
    ...outcome,
    row,
    line,
    input: isByPlace ? input.map(([, value]) => value) : names.map((name) => byName.get(name)),
    status: outcome !== null ? (outcome.status ?? done) : isUnknown ? 'unknown' : 'failed',
    ...(error !== null && { error }),
  };
}

/** The columns of the file, then status, the fields of the operation, and error. */
export const fieldsOf = ({ fields }: BulkOperation, { names }: Layout): readonly Field[] => [
  ...names.map((name, at): Field => ({ name, of: ({ input }) => (input as ResultRow['input'])[at], cuts: true })),
  { name: 'status' },
  ...fields,
  errorField,
];

/** The same as a JSON object. A column of the file with the name of a field of the result is left out. */
export function dataOf(
  row: ResultRow,
  { fields }: BulkOperation,
  { names }: Layout,
): Readonly<Record<string, unknown>> {
  const { input, status, error } = row;
  const own = { status, ...namedValues(fields, row), error };
  const given = names.map((name, at) => [name, input[at]] as const).filter(([name]) => !Object.hasOwn(own, name));
  return { ...Object.fromEntries(given), ...own };
}

export const namedValues = (fields: readonly Field[], row: ResultRow): Readonly<Record<string, unknown>> =>
  Object.fromEntries(fields.map((field) => [field.name, cellValue(field, row)]));

/** The key or id of a row that was done. */
export const idOf = ({ key, id }: ResultRow): string => String(key ?? id ?? '');
