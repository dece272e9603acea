import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { codeOf, LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { openDecoder, trimmed } from '../values/text.ts';
import type { Form, Layout, RawRow, Report } from './raw-row.ts';
import { delimiters, guessDelimiter, readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';

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
  const decoder = openDecoder(shownPath, { encoding, guesses: true });
  const form: Form = { names: [], isByPlace: false, delimiter: ',' };
  return {
    name: basename(shownPath),
    rows: readRows(
      readTexts(readBytes(path, io), hash, decoder.decode),
      shownPath,
      delimiter === undefined ? undefined : delimiters[delimiter],
      form,
      report,
    ),
    /** SHA-256 of its bytes, hexadecimal; only once all rows are read. */
    digest: () => hash.digest('hex'),
    /** How its rows are written; only once all rows are read. */
    layout: (): Layout => ({ ...form, mark: decoder.needsMark() ? '\ufeff' : '' }),
    /** The encoding that was recognised by its bytes. */
    guessedEncoding: decoder.guessed,
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
async function* readTexts(
  parts: AsyncIterable<Uint8Array>,
  hash: Hash,
  decode: (part: Uint8Array, isLast: boolean) => string,
) {
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
  delimiter: string | undefined,
  form: Form,
  report: Report,
): AsyncGenerator<RawRow> {
  let start = '';
  while (start.trimStart().length < START_LENGTH) {
    const { value, done } = await texts.next();
    if (done) break;
    start += value;
  }
  if (trimmed(start) === '') throw new UsageError(`${path} is empty`);
  const kind = kindOf(path, start);
  const sep = kind === 'csv' ? separatorLine.exec(start) : null;
  const all = (async function* () {
    yield start.slice(sep?.[0].length);
    yield* texts;
  })();
  if (kind === 'csv') {
    form.delimiter = delimiter ?? sep?.[1]?.replace('\\t', '\t') ?? guessDelimiter(start);
    yield* readCsv(all, form, sep === null ? 1 : 2, report);
    return;
  }
  for await (const row of kind === 'json' ? readJson(all, report) : readJsonLines(all, report)) {
    for (const [name] of row.written) if (!form.names.includes(name)) form.names.push(name);
    yield row;
  }
}

/** What Excel takes from the first line: `sep=;`. */
const separatorLine = /^"?sep=(\\t|[^\r\n"])"?[\t ,;|]*(?:\r\n?|\n)/i;

function kindOf(path: string, start: string): 'csv' | 'json' | 'jsonl' {
  if (/\.(jsonl|ndjson)$/i.test(path)) return 'jsonl';
  if (/\.(csv|tsv|txt)$/i.test(path)) return 'csv';
  const first = start.trimStart().charAt(0);
  return first === '[' ? 'json' : first === '{' ? 'jsonl' : 'csv';
}
