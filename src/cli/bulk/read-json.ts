import { isObject } from './columns.ts';
import type { Problem } from './problems.ts';
import type { RawRow, RawRows } from './read-source.ts';

/** Reads an object from each line. */
export function readJsonLines(text: string): RawRows {
  const rows: RawRow[] = [];
  const problems: Problem[] = [];
  for (const [at, written] of text.split('\n').entries()) {
    if (written.trim() === '') continue;
    const line = at + 1;
    const value = parsed(written);
    if (isObject(value)) rows.push({ line, cells: cellsOf(value) });
    else problems.push({ line, text: value === undefined ? 'is not JSON' : 'is not an object' });
  }
  return { rows, problems };
}

/** Reads an array of objects. Their place in it stands for the line. */
export function readJson(text: string): RawRows {
  const value = parsed(text);
  if (!Array.isArray(value)) return { rows: [], problems: [{ line: null, text: 'it is not a JSON array' }] };
  const items: readonly unknown[] = value;
  const rows = items.map((item, at) => (isObject(item) ? { line: at + 1, cells: cellsOf(item) } : null));
  const problems = rows.flatMap((row, at) => (row === null ? [{ line: at + 1, text: 'is not an object' }] : []));
  return { rows: rows.filter((row) => row !== null), problems };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Members as cells. What is inside of an object has a name of its own, as `customer.name`; metadata stays whole. */
const cellsOf = (object: Readonly<Record<string, unknown>>): RawRow['cells'] =>
  Object.entries(object).flatMap(([name, value]) =>
    isObject(value) && name !== 'metadata' && name !== 'features'
      ? Object.entries(value).map(([inner, of]) => [`${name}.${inner}`, of] as const)
      : [[name, value] as const],
  );
