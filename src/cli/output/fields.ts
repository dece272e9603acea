import { UsageError } from '../failure/errors.ts';
import type { Field } from './result.ts';
import { sanitise } from './text.ts';
import { nothing } from './words.ts';

type Row = Record<string, unknown>;

/** The fields that `--fields` names, in its order; null when all are wanted. Throws `UsageError`. */
export function chooseFields(names: readonly string[] | null, fields: readonly Field[]): readonly Field[] | null {
  if (names === null) return null;
  return names.map((name) => {
    const field = fields.find((one) => one.name === name);
    if (field) return field;
    const known = fields.map((one) => one.name).join(', ');
    throw new UsageError(`there is no field '${name}'`, [known === '' ? 'This command has none.' : `Fields: ${known}`]);
  });
}

export const cellValue = (field: Field, row: Row): unknown => (field.of ? field.of(row) : row[field.name]);

export const labelOf = ({ label, name }: Field): string => label ?? name;

/** A value as a terminal shows it. */
export function shownCell(field: Field, row: Row, now: number): string {
  const value = cellValue(field, row);
  if (value === undefined) return nothing;
  if (field.show) return sanitise(field.show(value, now, row));
  return value === null || value === '' ? nothing : sanitise(plainText(value));
}

/** A value as a pipe carries it: nothing cut or rounded, null empty. */
export const rawCell = (field: Field, row: Row): string => sanitise(plainText(cellValue(field, row)));

function plainText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
