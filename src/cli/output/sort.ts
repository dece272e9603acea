import { UsageError } from '../failure/errors.ts';
import { type CommandResult, cellValue, chooseFields, type Field } from './result.ts';

export interface Order {
  readonly field: Field;
  readonly isDescending: boolean;
}

/** Reads `FIELD`, `FIELD:asc` or `FIELD:desc`. Throws `UsageError`. */
export function readOrder(text: string, fields: readonly Field[]): Order {
  const [name = '', direction = 'asc', ...rest] = text.split(':');
  if (rest.length > 0 || !['asc', 'desc'].includes(direction)) {
    throw new UsageError(`'${text}' is not FIELD, FIELD:asc or FIELD:desc`);
  }
  const [field] = chooseFields([name], fields);
  if (field === undefined) throw new UsageError('--sort names no field');
  return { field, isDescending: direction === 'desc' };
}

/** Sorts the rows of a list with all that belongs to them; missing values come last. */
export function sortRows(result: CommandResult, { field, isDescending }: Order): CommandResult {
  if (result.kind !== 'rows') return result;
  const values = result.rows.map((row) => cellValue(field, row));
  const order = values.map((_, at) => at).toSorted((one, other) => compare(values[one], values[other], isDescending));
  const inOrder = <T>(items: readonly T[]): T[] =>
    items.length === order.length ? order.map((at) => items[at] as T) : [...items];
  const data = Array.isArray(result.data) ? inOrder(result.data) : result.data;
  return { ...result, rows: inOrder(result.rows), data, quiet: inOrder(result.quiet) };
}

function compare(one: unknown, other: unknown, isDescending: boolean): number {
  const isLacking = [one, other].map((value) => value === null || value === undefined);
  if (isLacking[0] || isLacking[1]) return Number(isLacking[0]) - Number(isLacking[1]);
  const difference =
    typeof one === 'number' && typeof other === 'number' ? one - other : collator.compare(String(one), String(other));
  return isDescending ? -difference : difference;
}

/** Ignores case and accents, and compares numbers in names by value. */
const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
