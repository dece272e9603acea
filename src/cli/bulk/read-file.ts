import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { CommandError, codeOf, LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { openDecoder, trimmed } from '../values/text.ts';
import { isObject } from './columns.ts';

export interface RawRow {
  /** The line it begins on, from 1; the place in a JSON array. */
  readonly line: number;
  /** Names and values; those of a CSV file are texts. */
  readonly cells: readonly (readonly [name: string, value: unknown])[];
}

/** Takes one thing that is wrong with a file; `line` is null for the file as a whole. */
export type Report = (line: number | null, text: string) => void;

/** Where two of them fit, the first counts: a comma also stands in numbers and in names. */
const delimiters = { tab: '\t', semicolon: ';', pipe: '|', comma: ',' } as const;

/** How a file is written, as far as that is said. */
export interface Writing {
  readonly delimiter?: keyof typeof delimiters | undefined;
  readonly encoding?: string | undefined;
}

/**
 * Streams the rows of a file of CSV, JSON lines or a JSON array, and reports what is wrong with its form. The rows reject
 * with `UsageError` for a file that is empty or not text, and with `LocalError` for one that cannot be read.
 */
export function readFile(path: string, { delimiter, encoding }: Writing, report: Report, io: Io) {
  const hash = createHash('sha256');
  const shownPath = path === '-' ? 'stdin' : path;
  return {
    name: basename(shownPath),
    rows: readRows(
      readTexts(readBytes(path, io), hash, openDecoder(shownPath, encoding)),
      shownPath,
      delimiter,
      report,
    ),
    /** SHA-256 of its bytes, hexadecimal; only once all rows are read. */
    digest: () => hash.digest('hex'),
  };
}

const PART_BYTES = 256 * 1_024;

async function* readBytes(path: string, { stdin, cwd }: Io): AsyncGenerator<Uint8Array> {
  if (path === '-') {
    if (stdin.isTTY) throw new UsageError('-f - reads stdin, and stdin is a terminal: pipe something into it');
    yield* stdin.chunks();
    return;
  }
  try {
    yield* createReadStream(resolve(cwd, path), { highWaterMark: PART_BYTES });
  } catch (cause) {
    throw new LocalError(`cannot read ${path} (${codeOf(cause)})`, [], { cause });
  }
}

/** The text of bytes, which are hashed on the way. */
async function* readTexts(parts: AsyncIterable<Uint8Array>, hash: Hash, decode: ReturnType<typeof openDecoder>) {
  for await (const part of parts) {
    hash.update(part);
    yield decode(part, false);
  }
  yield decode(new Uint8Array(), true);
}

/** The characters that are read to tell the form of a file. */
const START_LENGTH = 65_536;

async function* readRows(
  texts: AsyncGenerator<string>,
  path: string,
  delimiter: Writing['delimiter'],
  report: Report,
): AsyncGenerator<RawRow> {
  let start = '';
  while (start.trimStart().length < START_LENGTH) {
    const { value, done } = await texts.next();
    if (done) break;
    start += value;
  }
  if (trimmed(start) === '') throw new UsageError(`${path} is empty`);
  const form = formOf(path, start);
  const sep = form === 'csv' ? separatorLine.exec(start) : null;
  const all = (async function* () {
    yield start.slice(sep?.[0].length);
    yield* texts;
  })();
  if (form === 'json') yield* readJson(all, report);
  else if (form === 'jsonl') yield* readJsonLines(all, report);
  else {
    const written = delimiter === undefined ? sep?.[1]?.replace('\\t', '\t') : delimiters[delimiter];
    yield* readCsv(all, written ?? guessDelimiter(start), sep === null ? 1 : 2, report);
  }
}

/** What Excel takes from the first line: `sep=;`. */
const separatorLine = /^"?sep=(\\t|[^\r\n"])"?[\t ,;|]*(?:\r\n?|\n)/i;

function formOf(path: string, start: string): 'csv' | 'json' | 'jsonl' {
  if (/\.(jsonl|ndjson)$/i.test(path)) return 'jsonl';
  if (/\.(csv|tsv|txt)$/i.test(path)) return 'csv';
  const first = start.trimStart().charAt(0);
  return first === '[' ? 'json' : first === '{' ? 'jsonl' : 'csv';
}

/** The delimiter that most rows have as often as the header, else the one that the header has most of. */
function guessDelimiter(text: string): string {
  const lines = text.replaceAll(/"[^"]*"/g, 'x').split(/[\r\n]+/);
  const [header = '', ...rows] = lines.filter((line) => line.trim() !== '').slice(0, 20);
  const timesIn = (line: string, one: string) => line.split(one).length - 1;
  const fitOf = (one: string) => {
    const times = timesIn(header, one);
    return times === 0 ? 0 : 1_000 * rows.filter((row) => timesIn(row, one) === times).length + Math.min(times, 999);
  };
  const best = Object.values(delimiters).reduce((most, next) => (fitOf(next) > fitOf(most) ? next : most));
  return fitOf(best) === 0 ? ',' : best;
}

/** Reads RFC 4180 with a header, whose lines end as they like. The text begins in line `firstLine` of the file. */
async function* readCsv(texts: AsyncIterable<string>, delimiter: string, firstLine: number, report: Report) {
  const { parse } = await import('csv-parse');
  /** What the parser adds to a line number: breaks of two characters inside cells are two lines to it. */
  let shift = 1 - firstLine;
  let lastLine = firstLine - 1;
  /** Behind some errors, the parser leaves out a part of the text. */
  let isLost = false;
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    trim: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_record(cells: string[], { lines }) {
      const breaks = cells.join(' ').match(/\r\n|\r|\n/g) ?? [];
      shift += breaks.filter((one) => one.length === 2).length;
      lastLine = lines - shift;
      return isLost ? null : [String(lastLine - breaks.length), ...cells];
    },
    on_skip(error) {
      if (!error || isLost) return undefined;
      isLost = error.code === 'CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE';
      const line =
        error.code === 'CSV_QUOTE_NOT_CLOSED' ? lastLine + 1 : Number('lines' in error && error.lines) - shift;
      report(line, error.message.replace(/ (at|on) line \d+.*$/, ''));
      return undefined;
    },
  });
  // An error of the text ends the parser with it.
  pipeline(Readable.from(texts), parser, () => {});
  let names: readonly string[] | undefined;
  for await (const [place, ...cells] of parser as AsyncIterable<readonly string[]>) {
    const line = Number(place);
    if (cells.every((value) => trimmed(value) === '')) continue;
    if (names === undefined) {
      names = cells.map(trimmed);
      continue;
    }
    if (cells.length !== names.length) report(line, `has ${cells.length} cells; the header has ${names.length}`);
    yield { line, cells: names.map((name, at) => [name, readCell(cells[at] ?? '')] as const) };
  }
}

async function* readJsonLines(texts: AsyncIterable<string>, report: Report): AsyncGenerator<RawRow> {
  let line = 0;
  for await (const text of linesOf(texts)) {
    line += 1;
    if (text.trim() === '') continue;
    try {
      const value: unknown = JSON.parse(text);
      if (isObject(value)) yield { line, cells: cellsOf(value) };
      else report(line, 'is not an object');
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      report(line, 'is not JSON');
    }
  }
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    // A carriage return at the end of what came may be half of a line end.
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}

async function* readJson(texts: AsyncIterable<string>, report: Report): AsyncGenerator<RawRow> {
  const { default: streamArray } = await import('stream-json/streamers/stream-array.js');
  const parser = streamArray.withParserAsStream();
  // An error of the text ends the parser with it.
  pipeline(Readable.from(texts), parser, () => {});
  try {
    for await (const { key, value } of parser as AsyncIterable<{ readonly key: number; readonly value: unknown }>) {
      if (isObject(value)) yield { line: key + 1, cells: cellsOf(value) };
      else report(key + 1, 'is not an object');
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    report(null, 'it is not a JSON array');
  }
}

/** Members as cells. What is inside of an object has a name of its own, as `customer.name`; metadata stays whole. */
const cellsOf = (object: Readonly<Record<string, unknown>>): RawRow['cells'] =>
  Object.entries(object).flatMap(([name, value]) =>
    isObject(value) && name !== 'metadata' && name !== 'features'
      ? Object.entries(value).map(([inner, of]) => [`${name}.${inner}`, of] as const)
      : [[name, value] as const],
  );

/*
 * A spreadsheet runs a cell that begins like a formula. An apostrophe before it makes it text there, as OWASP advises
 * ("CSV Injection"); reading takes it away again. It also keeps what is blank at the ends of a text, so that every text comes
 * back as it was.
 */
const formula = /^['=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

const needsGuard = (text: string): boolean => formula.test(text) || trimmed(text) !== text;

/** A text as a cell that no spreadsheet runs. */
export const guard = (text: string): string => (needsGuard(text) ? `'${text}` : text);

const readCell = (cell: string): string =>
  cell.startsWith("'") && needsGuard(cell.slice(1)) ? cell.slice(1) : trimmed(cell);
