import { hash } from 'node:crypto';
import { z } from 'zod';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { explainIssue } from '../values/check-fields.ts';
import { type Column, findColumn, guessColumn, isObject, setAt, valueAt } from './columns.ts';
import type { Body, BulkOperation } from './operation.ts';

import type { RawRow } from './read-file.ts';
import type { Problems } from './read-rows.ts';

type NamedColumns = ReadonlyMap<string, Column>;

interface Reading {
  /** From `--map`: the name in the file, and that of a column; '' leaves it out. */
  readonly mapping: ReadonlyMap<string, string>;
  readonly defaults: Body;
  readonly problems: Problems;
  readonly io: Pick<Io, 'now'>;
}

/** Turns the rows of a file into bodies of requests, one after the other, and collects all that is wrong with them. */
export function readBodies(operation: BulkOperation, { mapping, defaults, problems, io }: Reading) {
  const header = readHeader(operation, mapping, problems);
  const repeated = findRepeated(header.columns);

  function read(row: RawRow): Body {
    header.add(row);
    const body: Record<string, unknown> = structuredClone(defaults);
    const { texts, unread } = fill(body, row, header.columns, io);
    const arranged = operation.arrange?.(body) ?? body;
    const issues = issuesOf(arranged, operation, header.columns, unread);
    for (const text of [...texts, ...issues, ...repeated(row.line, arranged)]) problems.add({ line: row.line, text });
    return arranged;
  }

  return { read, end: header.end };
}

/** Finds out what the names in a file mean, as its rows come: those of JSON may each have other names. */
function readHeader({ columns: known }: BulkOperation, mapping: Reading['mapping'], problems: Problems) {
  const names = new Set<string>();
  const columns = new Map<string, Column>();
  /** By place in the body, the name that stands for it. */
  const taken = new Map<string, string>();
  const report = (text: string) => problems.add({ line: null, text });

  function addName(name: string): void {
    names.add(name);
    const meant = mapping.get(name) ?? name;
    if (meant === '') return;
    const column = findColumn(known, meant);
    const place = column?.path.join('.') ?? '';
    const other = taken.get(place);
    if (column === null) {
      const ways = `say what it is, --map '${name}=${guessColumn(known, name)}', or leave it out, --map '${name}='`;
      report(`column '${name.slice(0, 40)}': ${ways}`);
      problems.showsFields = true;
    } else if (other !== undefined) {
      report(`columns '${other}' and '${name}' are both ${column.name}`);
    } else {
      taken.set(place, name);
      columns.set(name, column);
    }
  }

  return {
    columns,
    add: ({ cells }: RawRow): void => {
      for (const [name] of cells.filter(([name]) => !names.has(name))) {
        if (!names.has(name)) addName(name);
        else if (columns.has(name)) report(`column '${name}' is there more than once`);
      }
    },
    end: (): void => {
      if (names.size === 0) report('it has no rows below its header');
      else for (const name of mapping.keys()) if (!names.has(name)) report(`--map: there is no column '${name}'`);
    },
  };
}

/** Writes the cells of a row into its body; returns what cannot be read, and the columns that it is in. */
function fill(body: Record<string, unknown>, { cells }: RawRow, columns: NamedColumns, io: Pick<Io, 'now'>) {
  const texts: string[] = [];
  const unread: Column[] = [];
  for (const [name, value] of cells) {
    const column = columns.get(name);
    if (column === undefined || value === '' || value === undefined) continue;
    if (value === null && column.nullWord === undefined) continue;
    try {
      const read = readValue(value, column, io);
      const before = column.path.length === 1 ? valueAt(body, column.path) : undefined;
      // Entries that stand in columns of their own go beside those of the whole object.
      setAt(body, column.path, isObject(read) && isObject(before) ? { ...before, ...read } : read);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      texts.push(`${name}: ${error.message}`);
      setAt(body, column.path, value);
      unread.push(column);
    }
  }
  return { texts, unread };
}

function readValue(value: unknown, { read, nullWord }: Column, io: Pick<Io, 'now'>): unknown {
  if (value === null || typeof value === 'object') return value;
  const text = String(value);
  if (text === nullWord) return null;
  return read === undefined ? text : read(text, io);
}

/** What the contract has against a body, by the names of its columns, besides those of which a problem is known already. */
export function issuesOf(
  body: Body,
  { schema, checked, columns }: BulkOperation,
  named: NamedColumns = new Map(),
  unread: readonly Column[] = [],
): string[] {
  const whole = checked?.(body) ?? body;
  const { error } = z.safeParse(schema, whole);
  if (error === undefined) return [];
  const names = [...columns.single.map((column) => [column.name, column] as const), ...named];
  const texts = error.issues
    .filter(({ path }) => !unread.some((column) => isWithin(path, column)))
    .map((issue) => {
      const { code, path } = issue;
      const [name = path.join('.')] = names.findLast(([, column]) => isWithin(path, column)) ?? [];
      const isMissing = code === 'invalid_type' && valueAt(whole, path) === undefined;
      return `${name} ${isMissing ? 'is missing' : explainIssue(issue)}`.trimStart();
    });
  return [...new Set(texts)];
}

const isWithin = (place: readonly PropertyKey[], { path }: Column): boolean =>
  path.every((part, at) => part === place[at]);

/** Two rows of one file cannot have the same key or reference: the second one would be refused, or done twice. */
function findRepeated(columns: NamedColumns) {
  /** By value, the line that it was seen on first. A hash stands for the value: there may be millions, of any length. */
  const seen = new Map<string, number>();
  return (line: number, body: Body): string[] =>
    [...columns].flatMap(([header, { name, path, unique }]) => {
      const value = unique === undefined ? undefined : valueAt(body, path);
      if (value === undefined || value === null) return [];
      const text = unique === 'anyCase' ? String(value).toLowerCase() : String(value);
      const digest = hash('sha256', `${name}\n${text}`, 'base64url');
      const first = seen.get(digest) ?? line;
      seen.set(digest, first);
      return first === line ? [] : [`${header}: the same as in line ${first}`];
    });
}
