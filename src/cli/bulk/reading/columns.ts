import type { Io } from '../../io.ts';
import type { Body } from '../operation.ts';
import type { Problem } from './problems.ts';

/** A row of a file before its columns are known. */
export interface RawRow {
  /** The line it begins on, from 1. */
  readonly line: number;
  /** Names and values; those of a CSV file are texts. */
  readonly cells: readonly (readonly [name: string, value: unknown])[];
}

/** The rows of a file as they come, and what is wrong with its form. */
export type RawRows = AsyncIterable<RawRow | Problem>;

/** The value of a cell as the body of a request has it; throws `UsageError`. */
type Read = (text: string, io: Pick<Io, 'now'>) => unknown;

/** A column that a file may have. */
export interface Column {
  /** As it is written in a header; case, spaces, `-` and `_` do not count. */
  readonly name: string;
  /** Other names that are understood. */
  readonly aliases?: readonly string[];
  /** Where its value stands in the body, from the outside inwards. */
  readonly path: readonly string[];
  /** The text itself unless given. */
  readonly read?: Read;
  /** What a cell says for null, which JSON has itself; without such a word, null is as good as no value. */
  readonly nullWord?: string;
  /** Two rows of a file cannot have the same value: as it is sent, or without regard to case. */
  readonly unique?: 'exact' | 'anyCase';
}

/** Columns that share the start of their names: `metadata.plan`. */
export interface ColumnFamily {
  readonly prefix: string;
  readonly path: readonly string[];
  readonly read?: Read;
}

/** What the columns of a file may be. */
export interface Columns {
  readonly single: readonly Column[];
  readonly families: readonly ColumnFamily[];
}

/** How a name in a header is compared. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '');

/** The column that a name in a header means; null for none. */
export function findColumn({ single, families }: Columns, name: string): Column | null {
  const wanted = plain(name);
  const found = single.find((column) => [column.name, ...(column.aliases ?? [])].some((one) => plain(one) === wanted));
  if (found !== undefined) return found;
  const family = families.find(({ prefix }) => name.toLowerCase().startsWith(prefix) && name.length > prefix.length);
  if (family === undefined) return null;
  const { prefix, path, ...more } = family;
  return { name, path: [...path, name.slice(prefix.length)], ...more };
}

/** The one column whose name contains an unknown name, such as `customerEmail` for `Email`; null for none or several. */
export function guessColumn({ single }: Columns, name: string): Column | null {
  const wanted = plain(name);
  const [found, ...more] = single.filter((column) => wanted.length > 2 && plain(column.name).includes(wanted));
  return found === undefined || more.length > 0 ? null : found;
}

/** Every name that a header may have, for messages. */
export const columnNames = ({ single, families }: Columns): string[] => [
  ...single.map(({ name }) => name),
  ...families.map(({ prefix }) => `${prefix}NAME`),
];

/** Sets the value at a path; objects on the way are made. */
export function setAt(body: Record<string, unknown>, [name = '', ...inner]: readonly string[], value: unknown): void {
  if (inner.length === 0) {
    define(body, name, value);
    return;
  }
  const found = Object.hasOwn(body, name) ? body[name] : undefined;
  const next: Record<string, unknown> = isObject(found) ? { ...found } : {};
  define(body, name, next);
  setAt(next, inner, value);
}

/** The value at a path; undefined where there is none. */
export const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((outer, key) => (isObject(outer) ? outer[String(key)] : undefined), body);

/** Also for names that an assignment would take for something else: `__proto__`. */
function define(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object without what is undefined, as JSON has it. */
export const given = (object: Body): Record<string, unknown> => JSON.parse(JSON.stringify(object));

/** A body as the rows of a file have it: the texts of its cells, by the names of their columns. */
export function writeCells({ single }: Columns, body: Body): Record<string, string> {
  const cells: Record<string, string> = {};
  const whole = single.filter(({ path }) => path.length === 1).map(({ path }) => path[0]);
  for (const { name, path, nullWord } of single) {
    if (path.length > 1 && whole.includes(path[0])) continue;
    const value = valueAt(body, path);
    const shown = value === null ? nullWord : value;
    if (shown !== undefined) cells[name] = typeof shown === 'object' ? JSON.stringify(shown) : String(shown);
  }
  return cells;
}
