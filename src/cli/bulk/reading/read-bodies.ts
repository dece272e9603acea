import { hash } from 'node:crypto';
import { z } from 'zod';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { explainIssue } from '../../values/check-fields.ts';
import type { Body, BulkOperation } from '../operation.ts';
import { type Column, isObject, type RawRow, setAt, valueAt } from './columns.ts';
import type { readHeader } from './header.ts';
import type { Problems } from './problems.ts';

/** A row as it will be sent. */
export interface RowBody {
  /** Where it came from; null where there is no file. */
  readonly line: number | null;
  readonly body: Body;
}

/**
 * Turns the rows of a file into bodies of requests, one after the other, and collects all that is wrong with them.
 *
 * @param header which column each name of the file means
 * @param defaults what a row has unless it says otherwise
 */
export function readBodies(
  operation: BulkOperation,
  header: ReturnType<typeof readHeader>,
  defaults: Body,
  problems: Problems,
  io: Pick<Io, 'now'>,
) {
  const repeated = findRepeated(header.columns);
  let rows = 0;

  function read(row: RawRow): RowBody {
    rows += 1;
    header.add(row);
    const { line } = row;
    const body: Record<string, unknown> = structuredClone(defaults);
    const { texts, unread } = fill(body, row, header.columns, io);
    const arranged = operation.arrange?.(body) ?? body;
    const issues = issuesOf(arranged, operation, header.columns, unread);
    for (const text of [...texts, ...issues, ...repeated(line, arranged)]) problems.add({ line, text });
    return { line, body: arranged };
  }

  /** To be called once all rows are read: what is wrong with the file as a whole. */
  function end(): void {
    const found = header.problems();
    if (rows === 0 && found.length === 0) found.push({ line: null, text: 'it has no rows below its header' });
    for (const problem of found) problems.add(problem);
  }

  return { read, end };
}

type NamedColumns = ReadonlyMap<string, Column>;

/** Writes the cells of a row into its body; returns what cannot be read, and the columns that it is in. */
function fill(body: Record<string, unknown>, { cells }: RawRow, columns: NamedColumns, io: Pick<Io, 'now'>) {
  const texts: string[] = [];
  const unread: Column[] = [];
  for (const [name, value] of cells) {
    const column = columns.get(name);
    if (column === undefined || value === '' || value === undefined) continue;
    if (value === null && column.nullWord === undefined) continue;
    try {
      setAt(body, column.path, merged(readValue(value, column, io), body, column));
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

/** Entries that stand in columns of their own go beside those of the whole object. */
function merged(value: unknown, body: Body, { path }: Column): unknown {
  const before = path.length === 1 ? valueAt(body, path) : undefined;
  return isObject(value) && isObject(before) ? { ...before, ...value } : value;
}

/**
 * What the contract has against a body, by the names that the file has for its fields, or would have.
 *
 * @param unread columns of which a problem is known already
 */
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
  const texts = [...error.issues, ...brokenRules(schema, whole)]
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

/** What the rules between fields have against a body: the schema itself asks them only once each field is right. */
function brokenRules(schema: z.ZodType, body: Body): z.core.$ZodIssue[] {
  return (schema._zod.def.checks ?? []).flatMap((rule) => {
    try {
      return z.custom<never>().check(rule).safeParse(body).error?.issues ?? [];
    } catch {
      // A rule may expect that its fields are right.
      return [];
    }
  });
}

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
