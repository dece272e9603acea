import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { CommandError, codeOf, LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { isObject } from './columns.ts';

export interface RawRow {
  /** The line it begins on, from 1; the place in a JSON array. */
  readonly line: number;
  /** Names and values; those of a CSV file are texts. */
  readonly cells: readonly (readonly [name: string, value: unknown])[];
}

/** Takes one thing that is wrong with a file; `line` is null for the file as a whole. */
export type Report = (line: number | null, text: string) => void;

const delimiters = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;

export type Delimiter = keyof typeof delimiters;

/**
 * Streams the rows of a file of CSV, JSON lines or a JSON array, and reports what is wrong with its form. The rows reject
 * with `UsageError` for a file that is empty or not text, and with `LocalError` for one that cannot be read.
 */
export function readFile(path: string, delimiter: Delimiter | undefined, report: Report, io: Io) {
  const hash = createHash('sha256');
  const shownPath = path === '-' ? 'stdin' : path;
  return {
    name: basename(shownPath),
    rows: readRows(readTexts(readBytes(path, io), hash, shownPath), shownPath, delimiter, report),
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

/** The text of bytes, which are hashed on the way, without the mark that some programs put before it. */
async function* readTexts(parts: AsyncIterable<Uint8Array>, hash: Hash, path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const part of parts) {
      hash.update(part);
      yield decoder.decode(part, { stream: true });
    }
    yield decoder.decode();
  } catch (cause) {
    if (codeOf(cause) !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw cause;
    const way = 'Save it as UTF-8, or convert it with: iconv -f ENCODING -t UTF-8';
    throw new UsageError(`${path} is not UTF-8 text`, [way], { cause });
  }
}

/** The characters that are read to tell the form of a file, at most. */
const START_LENGTH = 1_000_000;

async function* readRows(
  texts: AsyncGenerator<string>,
  path: string,
  delimiter: Delimiter | undefined,
  report: Report,
): AsyncGenerator<RawRow> {
  let start = '';
  // Until the first line that is not blank is there.
  while (start.length < START_LENGTH && !start.trimStart().includes('\n')) {
    const { value, done } = await texts.next();
    if (done) break;
    start += value;
  }
  if (start.trim() === '') throw new UsageError(`${path} is empty`);
  const all = (async function* () {
    yield start;
    yield* texts;
  })();
  const form = formOf(path, start);
  if (form === 'json') yield* readJson(all, report);
  else if (form === 'jsonl') yield* readJsonLines(all, report);
  else yield* readCsv(all, delimiter === undefined ? guessDelimiter(start) : delimiters[delimiter], report);
}

function formOf(path: string, start: string): 'csv' | 'json' | 'jsonl' {
  if (/\.(jsonl|ndjson)$/i.test(path)) return 'jsonl';
  if (/\.(csv|tsv|txt)$/i.test(path)) return 'csv';
  const first = start.trimStart().charAt(0);
  return first === '[' ? 'json' : first === '{' ? 'jsonl' : 'csv';
}

/** The delimiter that a header has most of. */
function guessDelimiter(text: string): string {
  const header = (/^.*$/m.exec(text.trimStart())?.[0] ?? '').replaceAll(/"[^"]*"/g, '');
  const timesIn = (one: string) => header.split(one).length;
  return Object.values(delimiters).reduce((most, next) => (timesIn(next) > timesIn(most) ? next : most));
}

/** Reads RFC 4180 with a header. */
async function* readCsv(texts: AsyncIterable<string>, delimiter: string, report: Report): AsyncGenerator<RawRow> {
  const { parse } = await import('csv-parse');
  const parser = parse({
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip(error) {
      const line = error && 'lines' in error && typeof error.lines === 'number' ? error.lines : null;
      if (error) report(line, error.message.replace(/ (at|on) line \d+.*$/, ''));
      return undefined;
    },
  });
  // An error of the text ends the parser with it.
  pipeline(Readable.from(texts), parser, () => {});
  let names: readonly string[] | undefined;
  /** Breaks of two characters inside cells, each of which the parser counts as two lines. */
  let doubled = 0;
  for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
    const breaks = record.join(' ').match(/\r\n|\r|\n/g) ?? [];
    doubled += breaks.filter((one) => one.length === 2).length;
    if (record.every((value) => value.trim() === '')) continue;
    if (names === undefined) {
      names = record.map((name) => name.trim());
      continue;
    }
    const line = info.lines - doubled - breaks.length;
    if (record.length !== names.length) {
      report(line, `has ${record.length} cells; the header has ${names.length}`);
    }
    yield { line, cells: names.map((name, at) => [name, unguard(record[at] ?? '')]) };
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
    const [first = '', ...others] = text.split('\n');
    rest += first;
    for (const line of others) {
      yield rest;
      rest = line;
    }
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
 * ("CSV Injection"); reading takes it away again, so that every text comes back as it was.
 */
const formula = /^['=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/** A text as a cell that no spreadsheet runs. */
export const guard = (text: string): string => (formula.test(text) ? `'${text}` : text);

const unguard = (cell: string): string => (cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell);
