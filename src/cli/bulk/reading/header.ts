import type { BulkOperation } from '../operation.ts';
import { type Column, columnNames, findColumn, guessColumn, type RawRow } from './columns.ts';
import type { Problem } from './problems.ts';

/**
 * Finds out what the names in a file mean, as its rows come: those of JSON may each have other names.
 *
 * @param mapping from `--map`: the name in the file, and that of a column; '' leaves it out
 */
export function readHeader(known: BulkOperation['columns'], mapping: ReadonlyMap<string, string>) {
  const names = new Set<string>();
  const columns = new Map<string, Column>();
  const problems: string[] = [];
  const unknown: string[] = [];
  /** By place in the body, the name that stands for it. */
  const taken = new Map<string, string>();

  function addName(name: string): void {
    names.add(name);
    const meant = mapping.get(name) ?? name;
    if (meant === '') return;
    const column = findColumn(known, meant);
    const place = column?.path.join('.') ?? '';
    const other = taken.get(place);
    if (column === null) unknown.push(unknownColumn(name, known));
    else if (other !== undefined) problems.push(`columns '${other}' and '${name}' are both ${column.name}`);
    else {
      taken.set(place, name);
      columns.set(name, column);
    }
  }

  return {
    /** By name in the file. */
    columns,
    add: ({ cells }: RawRow): void => {
      for (const [name] of cells.filter(([name]) => !names.has(name))) {
        if (!names.has(name)) addName(name);
        else if (columns.has(name)) problems.push(`column '${name}' is there more than once`);
      }
    },
    problems: (): Problem[] => {
      // Without a row there are no columns to miss one among.
      const missing = names.size === 0 ? [] : [...mapping.keys()].filter((name) => !names.has(name));
      const all = [...problems, ...missing.map((name) => `--map: there is no column '${name}'`), ...unknown];
      const hint = `known fields: ${columnNames(known).join(', ')}`;
      return all.map((text) => ({ line: null, text, ...(text === unknown.at(-1) && { hint }) }));
    },
  };
}

function unknownColumn(name: string, columns: BulkOperation['columns']): string {
  const field = guessColumn(columns, name)?.name ?? 'FIELD';
  return `column '${name.slice(0, 40)}': say what it is, --map '${name}=${field}', or leave it out, --map '${name}='`;
}
