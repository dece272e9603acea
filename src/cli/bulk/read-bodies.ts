import { z } from 'zod';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { explainIssue } from '../values/check-fields.ts';
import { type Column, type Columns, columnNames, findColumn, isObject, setAt } from './columns.ts';
import type { Problem } from './problems.ts';
import type { RawRow, RawRows } from './read-source.ts';

/** A row as it will be sent. */
export interface RowBody {
  /** Where it came from; null where there is no file. */
  readonly line: number | null;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Reading {
  readonly columns: Columns;
  /** From `--map`: the name in the file, and that of a column; '' leaves it out. */
  readonly mapping: ReadonlyMap<string, string>;
  /** What a row has unless it says otherwise. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly schema: z.ZodType;
}

/** Turns rows into bodies of requests, and finds all that is wrong with them. */
export function readBodies(
  { rows, problems }: RawRows,
  reading: Reading,
  io: Pick<Io, 'now'>,
): { readonly bodies: readonly RowBody[]; readonly problems: readonly Problem[] } {
  const found: Problem[] = [...problems];
  const header = readHeader(rows, reading);
  found.push(...header.problems);
  const seen = new Map<string, number>();
  const bodies = rows.map((row): RowBody => {
    const read = readRow(row, header.columns, reading, io);
    const repeated = findRepeated(row, header.columns, seen);
    found.push(...[...read.problems, ...repeated].map((text) => ({ line: row.line, text })));
    return { line: row.line, body: read.body };
  });
  if (rows.length === 0 && found.length === 0) found.push({ line: null, text: 'it has no rows below its header' });
  return { bodies, problems: found };
}

interface Header {
  readonly columns: ReadonlyMap<string, Column>;
  readonly problems: readonly Problem[];
}

function readHeader(rows: readonly RawRow[], { columns, mapping }: Reading): Header {
  const names = new Set(rows.flatMap(({ cells }) => cells.map(([name]) => name)));
  const found = new Map<string, Column>();
  const texts: string[] = [];
  const unknown: string[] = [];
  const taken = new Map<string, string>();
  for (const name of names) {
    const meant = mapping.get(name) ?? name;
    if (meant === '') continue;
    const column = findColumn(columns, meant);
    const place = column?.path.join('.') ?? '';
    const other = taken.get(place);
    if (column === null) unknown.push(unknownColumn(name));
    else if (other !== undefined) texts.push(`columns '${other}' and '${name}' are both ${column.name}`);
    else {
      taken.set(place, name);
      found.set(name, column);
    }
  }
  for (const name of mapping.keys()) if (!names.has(name)) texts.push(`--map: there is no column '${name}'`);
  if (unknown.length > 0) texts.push(...unknown, `known fields: ${columnNames(columns).join(', ')}`);
  return { columns: found, problems: texts.map((text) => ({ line: null, text })) };
}

const unknownColumn = (name: string): string =>
  `column '${name.slice(0, 40)}': say what it is, --map '${name}=FIELD', or leave it out, --map '${name}='`;

function readRow(
  { cells }: RawRow,
  columns: ReadonlyMap<string, Column>,
  { columns: known, defaults, schema }: Reading,
  io: Pick<Io, 'now'>,
): { readonly body: Record<string, unknown>; readonly problems: readonly string[] } {
  const body: Record<string, unknown> = structuredClone(defaults);
  const problems: string[] = [];
  for (const [name, value] of cells) {
    const column = columns.get(name);
    if (column === undefined || value === '' || value === undefined) continue;
    if (value === null && column.nullWord === undefined) continue;
    try {
      setAt(body, column.path, merged(readValue(value, column, io), body, column));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(`${name}: ${error.message}`);
    }
  }
  if (problems.length > 0) return { body, problems };
  const names = new Map([...known.single.map((column) => [column.name, column] as const), ...columns]);
  return { body, problems: issuesOf(body, schema, names) };
}

function readValue(value: unknown, { read }: Column, io: Pick<Io, 'now'>): unknown {
  if (value === null || typeof value === 'object') return value;
  const text = String(value);
  return read === undefined ? text : read(text, io);
}

/** Entries that stand in columns of their own go beside those of the whole object. */
function merged(value: unknown, body: Readonly<Record<string, unknown>>, { path }: Column): unknown {
  const [name = ''] = path;
  const before = path.length === 1 ? body[name] : undefined;
  return isObject(value) && isObject(before) ? { ...before, ...value } : value;
}

/** What the contract has against a body. */
export function issuesOf(body: unknown, schema: z.ZodType, columns: ReadonlyMap<string, Column>): string[] {
  const { error } = z.safeParse(schema, body);
  const issues = error?.issues.map((issue) => {
    const said = issue.code === 'invalid_type' && isMissing(body, issue.path) ? 'is missing' : explainIssue(issue);
    return `${nameAt(issue.path, columns)}${said}`;
  });
  return [...new Set(issues)];
}

const isMissing = (body: unknown, path: readonly PropertyKey[]): boolean =>
  path.reduce<unknown>((value, key) => (isObject(value) ? value[String(key)] : undefined), body) === undefined;

/** What the file calls the place of an issue, or would call it; without a column, the contract's own name. */
function nameAt(path: readonly PropertyKey[], columns: ReadonlyMap<string, Column>): string {
  const place = path.map(String);
  if (place.length === 0) return '';
  const named = [...columns].findLast(([, column]) => column.path.every((part, at) => part === place[at]));
  return `${named?.[0] ?? place.join('.')} `;
}

/** Two rows of one file cannot have the same key or reference: the second one would be refused. */
function findRepeated({ line, cells }: RawRow, columns: ReadonlyMap<string, Column>, seen: Map<string, number>) {
  return cells.flatMap(([name, value]) => {
    if (columns.get(name)?.isUnique !== true || value === '' || value == null) return [];
    const id = `${name}\n${String(value)}`;
    const first = seen.get(id);
    if (first === undefined) seen.set(id, line);
    return first === undefined ? [] : [`${name}: the same as in line ${first}`];
  });
}
