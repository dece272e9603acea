import { hash } from 'node:crypto';
import { z } from 'zod';
import { emailKey } from '../../../domain/email.ts';
import { toInstant } from '../../../domain/time.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { explainIssue } from '../../values/check-fields.ts';
import { type DateFormat, formatsOf, isoDate } from '../../values/date-format.ts';
import { trimmed } from '../../values/text.ts';
import type { Body, BulkOperation } from '../operation.ts';
import { type Column, findColumn, isObject, setAt, valueAt } from './columns.ts';
import { createDateNotes, type DateCell } from './date-notes.ts';
import type { Problems } from './problems.ts';
import type { RawRow } from './raw-row.ts';

/** The columns of a file by their names in it; null for a column that is left out or cannot be used. */
type NamedColumns = ReadonlyMap<string, Column | null>;

interface Reading {
  /** From `--map`: the name of a column in the file, and the field that it means; '' leaves the column out. */
  readonly mapping: ReadonlyMap<string, string>;
  readonly defaults: Body;
  readonly problems: Problems;
  readonly dateFormat: DateFormat | undefined;
  readonly noDate?: readonly string[] | undefined;
  /** Whether columns that match no field are left out; otherwise each is a problem. */
  readonly ignoreUnknown?: boolean;
  readonly io: Pick<Io, 'now'>;
}

/** Turns the rows of a file into bodies of requests, one after the other, and collects their problems. */
export function readBodies(operation: BulkOperation, reading: Reading) {
  const { mapping, defaults, problems, io, ignoreUnknown = false } = reading;
  const dates = createDateNotes(io);
  /** Values of date columns that are no dates. */
  const noDates: string[] = [];
  const columns = new Map<string, Column | null>();
  const leftOut: string[] = [];
  let unknown = 0;
  const repeated = findRepeated(columns, problems.place);
  const report = (text: string) => problems.add(null, text);

  /** The column that a name in the file means. */
  function columnOf(name: string): Column | null {
    const meant = mapping.get(name) ?? name;
    if (meant === '') return null;
    const column = findColumn(operation.columns, meant);
    if (column === null) {
      noteUnknown(name, meant);
      return null;
    }
    const place = column.path.join('.');
    const [other] = [...columns].find(([, known]) => known?.path.join('.') === place) ?? [];
    if (other === undefined) return column;
    report(`columns '${other}' and '${name}' are both ${column.name}`);
    return null;
  }

  function noteUnknown(name: string, meant: string): void {
    if (ignoreUnknown && meant === name) {
      leftOut.push(name);
      return;
    }
    report(`column '${name.slice(0, 40)}': say what it is, --map '${name}=FIELD', or leave it out, --map '${name}='`);
    unknown += 1;
    problems.showsFields = true;
  }

  /** Each object of a JSON file may have other names than the first. */
  function readNames({ cells }: RawRow): void {
    for (const [name] of cells.filter(([name]) => !columns.has(name))) {
      if (!columns.has(name)) columns.set(name, columnOf(name));
      else if (columns.get(name) !== null) report(`column '${name}' is there more than once`);
    }
  }

  function read(row: RawRow): Body {
    readNames(row);
    const filled: Record<string, unknown> = structuredClone(defaults);
    const { texts, unread, dated } = fill(filled, row, columns, noDates, reading);
    const body = operation.arrange?.(filled) ?? filled;
    const issues = [...texts, ...issuesOf(body, operation, columns, unread)];
    const refusals = issues.length === 0 ? operation.problemsOf?.(body, toInstant(io.now())) : undefined;
    for (const text of refusals ?? issues) problems.add(row.line, text);
    // A row that is left out reserves no key, and gives no notes on its dates.
    if (problems.skipped.has(row.line)) return body;
    for (const text of repeated(row.line, body, problems.skipsRows)) problems.add(row.line, text);
    if (!problems.skipped.has(row.line)) dated.forEach(dates.see);
    return body;
  }

  /** To be called after the last row. */
  function end(): void {
    if (columns.size === 0) report('it has no rows that can be read');
    else for (const name of mapping.keys()) if (!columns.has(name)) report(`--map: there is no column '${name}'`);
    if (unknown > 1) problems.hints.push('--ignore-unknown leaves out all columns that are no known field');
    const [format, ...others] = formatsOf(noDates);
    if (format === undefined) return;
    const orders = [format, ...others].map((one) => `--date-format ${one}`).join(' or ');
    problems.hints.push(`dates such as ${noDates[0]} are read with ${orders}`);
  }

  const notes = (noun: string): readonly string[] => [
    ...(leftOut.length === 0 ? [] : [`columns left out: ${leftOut.join(', ')}`]),
    ...dates.notes(noun),
  ];
  return { read, end, notes };
}

/**
 * Writes the cells of a row into its body. Returns its dates, the problems of unreadable cells, and the columns of these
 * cells; adds unreadable dates to `noDates`.
 */
function fill(
  body: Record<string, unknown>,
  { cells }: RawRow,
  columns: NamedColumns,
  noDates: string[],
  reading: Reading,
) {
  const texts: string[] = [];
  const unread: Column[] = [];
  const dated: DateCell[] = [];
  for (const [name, value] of cells) {
    const column = columns.get(name);
    if (!column || saysNothing(value, column)) continue;
    try {
      const read = readValue(value, column, dated, reading);
      if (read !== undefined) setAt(body, column.path, mergedWith(body, column, read));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      texts.push(`${name}: ${error.message}${wayToNoDate(column, value)}`);
      if (column.isDate && noDates.length < MAX_NO_DATES) noDates.push(String(value));
      setAt(body, column.path, value);
      unread.push(column);
    }
  }
  return { texts, unread, dated };
}

/** Whether a cell leaves its field out. */
const saysNothing = (value: unknown, { nullWord }: Column): boolean =>
  value === '' || (value === null && nullWord === undefined);

/** The value with what the body has of the same object: entries may also come from columns of their own. */
function mergedWith(body: Body, { path }: Column, read: unknown): unknown {
  const before = path.length === 1 ? valueAt(body, path) : undefined;
  return isObject(read) && isObject(before) ? { ...before, ...read } : read;
}

const wayToNoDate = ({ isDate }: Column, value: unknown): string =>
  isDate && meansNoDate.test(String(value))
    ? `; for no date, write 'never' or nothing, or say --no-date '${value}'`
    : '';

/** How programs write that there is no date: zeros in the form of a date, and words. */
const meansNoDate =
  /^(?:[0\W]*0[0\WTZ]*|\W+|\\?N|N\/?A|null|nil|none|lifetime|perpetual|unlimited|forever|no expiry)$/i;

/** Enough values to recognise the format of the dates. */
const MAX_NO_DATES = 1_000;

function readValue(
  value: unknown,
  column: Column,
  dated: DateCell[],
  { dateFormat, noDate = [], io }: Reading,
): unknown {
  const { read, nullWord, isDate } = column;
  if (value === null || typeof value === 'object') return value;
  const text = read === undefined ? String(value) : trimmed(String(value));
  if (text === nullWord) return null;
  if (isDate && noDate.includes(text)) return nullWord === undefined ? undefined : null;
  if (read === undefined || text === '') return text || undefined;
  if (!isDate) return read(text, io);
  const date = (dateFormat && isoDate(text, dateFormat)) ?? isoDate(text, 'ymd');
  const sent = read(date ?? text, io);
  dated.push({ text, iso: date, sent, column });
  return sent;
}

/** The problems of a body by its schema, with the names of columns; without the columns in `unread`, whose problems are known. */
export function issuesOf(
  body: Body,
  { schema, toCheck, columns }: BulkOperation,
  named: NamedColumns = new Map(),
  unread: readonly Column[] = [],
): string[] {
  const whole = toCheck?.(body) ?? body;
  const { error } = z.safeParse(schema, whole);
  if (error === undefined) return [];
  const names = [...columns.single.map((column) => [column.name, column] as const), ...named];
  const texts = error.issues
    .filter(({ path }) => !unread.some((column) => isWithin(path, column)))
    .map((issue) => {
      const { code, path } = issue;
      const [name = path.join('.')] = names.findLast(([, column]) => column && isWithin(path, column)) ?? [];
      const isMissing = code === 'invalid_type' && valueAt(whole, path) === undefined;
      return `${name} ${isMissing ? 'is missing' : explainIssue(issue)}`.trimStart();
    });
  return [...new Set(texts)];
}

const isWithin = (place: readonly PropertyKey[], { path }: Column): boolean =>
  path.every((part, at) => part === place[at]);

/** Finds rows with the key, reference or address of an earlier row: the service would refuse the second, or do it twice. */
function findRepeated(columns: NamedColumns, place: (line: number) => string) {
  /** By the hash of a value, its first line. Hashes are short: a file may have millions of values of any length. */
  const seen = new Map<string, number>();
  return (line: number, body: Body, skipsRows: boolean): string[] => {
    const values = [...columns].flatMap(([header, column]) => {
      const value = column?.unique && valueAt(body, column.path);
      if (value === undefined || value === null) return [];
      const text = column?.unique === 'email' ? emailKey(String(value)) : String(value);
      const digest = hash('sha256', `${column?.name}\n${text}`, 'base64url');
      return [{ header, digest, first: seen.get(digest) ?? line }];
    });
    const again = values.filter(({ first }) => first !== line);
    if (again.length === 0 || !skipsRows) for (const { digest, first } of values) seen.set(digest, first);
    return again.map(({ header, first }) => `${header}: the same as in ${place(first)}`);
  };
}
