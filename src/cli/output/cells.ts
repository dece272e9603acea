import type { Field } from './result.ts';
import { sanitise } from './sanitise.ts';
import { nothing } from './words.ts';

type Row = Record<string, unknown>;

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
