import { hash } from 'node:crypto';
import { z } from 'zod';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { explainIssue } from '../../values/check-fields.ts';
import type { BulkOperation } from '../operation.ts';
import { type Column, columnNames, findColumn, guessColumn, isObject, setAt, valueAt } from './columns.ts';
import type { Problem } from './problems.ts';
import type { RawRow } from './raw-rows.ts';

/** A row as it will be sent. */
export interface RowBody {
  /** Where it came from; null where there is no file. */
  readonly line: number | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** How rows are read. */
export interface Reading {
  readonly operation: Pick<BulkOperation, 'columns' | 'schema' | 'arrange' | 'checked'>;
  /** From `--map`: the name in the file, and that of a column; '' leaves it out. */
  readonly mapping: ReadonlyMap<string, string>;
  /** What a row has unless it says otherwise. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** Turns the rows of a file into bodies of requests, one after the other. */
export interface BodyReader {
  /** The body of a row, and all that is wrong with it. */
  read(row: RawRow): { readonly body: RowBody; readonly problems: readonly Problem[] };
  /** What is wrong with the columns, and with the file as a whole, once all rows are read. */
  end(): Problem[];
}

export function readBodies(reading: Reading, io: Pick<Io, 'now'>): BodyReader {
  const header = readHeader(reading);
  const seen: SeenValues = new Map();
  let rows = 0;
  return {
    read: (row) => {
      rows += 1;
      header.add(row);
      const { body, problems } = readRow(row, header.columns, reading, io);
      const rowBody = { line: row.line, body };
      const texts = [...problems, ...findRepeated(rowBody, header.columns, seen)];
      return { body: rowBody, problems: texts.map((text) => ({ line: row.line, text })) };
    },
    end: () => {
      const problems = header.problems();
      if (rows === 0 && problems.length === 0) problems.push({ line: null, text: 'it has no rows below its header' });
      return problems;
    },
  };
}

interface Header {
  readonly columns: ReadonlyMap<string, Column>;
  /** Finds out what the names of a row mean, where they are new. */
  add(row: RawRow): void;
  problems(): Problem[];
}

function readHeader({ operation: { columns: known }, mapping }: Reading): Header {
  const names = new Set<string>();
  const columns = new Map<string, Column>();
  const texts: string[] = [];
  const unknown: string[] = [];
  const taken = new Map<string, string>();

  function addName(name: string): void {
    names.add(name);
    const meant = mapping.get(name) ?? name;
    if (meant === '') return;
    const column = findColumn(known, meant);
    const place = column?.path.join('.') ?? '';
    const other = taken.get(place);
    if (column === null) unknown.push(unknownColumn(name, known));
    else if (other !== undefined) texts.push(`columns '${other}' and '${name}' are both ${column.name}`);
    else {
      taken.set(place, name);
      columns.set(name, column);
    }
  }

  function problems(): Problem[] {
    // Without a row there are no columns to miss one among.
    const missing = names.size === 0 ? [] : [...mapping.keys()].filter((name) => !names.has(name));
    const all = [...texts, ...missing.map((name) => `--map: there is no column '${name}'`), ...unknown];
    const hint = `known fields: ${columnNames(known).join(', ')}`;
    return all.map((text) => ({ line: null, text, ...(text === unknown.at(-1) && { hint }) }));
  }

  return {
    columns,
    add: ({ cells }) => {
      for (const [name] of cells.filter(([name]) => !names.has(name))) {
        if (!names.has(name)) addName(name);
        else if (columns.has(name)) texts.push(`column '${name}' is there more than once`);
      }
    },
    problems,
  };
}

function unknownColumn(name: string, columns: BulkOperation['columns']): string {
  const field = guessColumn(columns, name)?.name ?? 'FIELD';
  return `column '${name.slice(0, 40)}': say what it is, --map '${name}=${field}', or leave it out, --map '${name}='`;
}

function readRow(
  { cells }: RawRow,
  columns: ReadonlyMap<string, Column>,
  { operation, defaults }: Reading,
  io: Pick<Io, 'now'>,
): { readonly body: Record<string, unknown>; readonly problems: readonly string[] } {
  const body: Record<string, unknown> = structuredClone(defaults);
  const problems: string[] = [];
  /** Where the cells stand that cannot be read: what the contract has against these is not said a second time. */
  const unread: Column[] = [];
  for (const [name, value] of cells) {
    const column = columns.get(name);
    if (column === undefined || value === '' || value === undefined) continue;
    if (value === null && column.nullWord === undefined) continue;
    try {
      setAt(body, column.path, merged(readValue(value, column, io), body, column));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(`${name}: ${error.message}`);
      setAt(body, column.path, value);
      unread.push(column);
    }
  }
  const arranged = operation.arrange(body);
  const names = () =>
    new Map([...operation.columns.single.map((column) => [column.name, column] as const), ...columns]);
  const issues = issuesOf(operation.checked(arranged), operation.schema, { names, unread });
  return { body: arranged, problems: [...problems, ...issues] };
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

interface Told {
  names(): ReadonlyMap<string, Column>;
  /** Columns of which a problem is known already. */
  readonly unread: readonly Column[];
}

/** What the contract has against a body. */
export function issuesOf(
  body: unknown,
  schema: z.ZodType,
  { names, unread }: Told = { names: () => new Map(), unread: [] },
): string[] {
  const { error } = z.safeParse(schema, body);
  if (error === undefined) return [];
  const isKnown = ({ path }: z.core.$ZodIssue) =>
    unread.some((column) => column.path.every((part, at) => part === path[at]));
  const issues = [...error.issues, ...brokenRules(schema, body)].filter((issue) => !isKnown(issue));
  const texts = issues.map((issue) => {
    const said = issue.code === 'invalid_type' && isMissing(body, issue.path) ? 'is missing' : explainIssue(issue);
    return `${nameAt(issue.path, names())}${said}`;
  });
  return [...new Set(texts)];
}

/** What the rules between fields have against a body: the schema itself asks them only once each field is right. */
function brokenRules(schema: z.ZodType, body: unknown): z.core.$ZodIssue[] {
  return (schema._zod.def.checks ?? []).flatMap((rule) => {
    try {
      return z.custom<never>().check(rule).safeParse(body).error?.issues ?? [];
    } catch {
      // A rule may expect that its fields are right.
      return [];
    }
  });
}

const isMissing = (body: unknown, path: readonly PropertyKey[]): boolean => valueAt(body, path) === undefined;

/** What the file calls the place of an issue, or would call it; without a column, the contract's own name. */
function nameAt(path: readonly PropertyKey[], columns: ReadonlyMap<string, Column>): string {
  const place = path.map(String);
  if (place.length === 0) return '';
  const named = [...columns].findLast(([, column]) => column.path.every((part, at) => part === place[at]));
  return `${named?.[0] ?? place.join('.')} `;
}

/** By value, the line that it was seen on first. A hash stands for the value: there may be millions, of any length. */
type SeenValues = Map<string, number>;

/** Two rows of one file cannot have the same key or reference: the second one would be refused, or done twice. */
function findRepeated(
  { line, body }: { readonly line: number; readonly body: RowBody['body'] },
  columns: ReadonlyMap<string, Column>,
  seen: SeenValues,
): string[] {
  return [...columns].flatMap(([header, { name, path, unique }]) => {
    const value = unique === undefined ? undefined : valueAt(body, path);
    if (value === undefined || value === null) return [];
    const text = unique === 'anyCase' ? String(value).toLowerCase() : String(value);
    const digest = hash('sha256', `${name}\n${text}`, 'base64url');
    const first = seen.get(digest);
    if (first === undefined) seen.set(digest, line);
    return first === undefined ? [] : [`${header}: the same as in line ${first}`];
  });
}
