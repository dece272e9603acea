import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { codeOf, LocalError, UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import type { RawRows } from './columns.ts';
import { type Delimiter, delimiters, guessDelimiter, readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';

/**
 * Streams the rows of a file of CSV, JSON lines or a JSON array. The form is known from the extension of its name, else
 * from its first character. Only a part of the file is in memory at a time. The rows reject with `UsageError` for a file
 * that is empty or not text, and with `LocalError` for one that cannot be read.
 */
export function openRows(path: string, delimiter: Delimiter | undefined, io: Io) {
  const isStdin = path === '-';
  const shownPath = isStdin ? 'stdin' : path;
  const hash = createHash('sha256');
  const texts = readTexts(isStdin ? readStdin(io) : readFile(path, io), hash, shownPath);
  return {
    /** Its name without folders. */
    name: isStdin ? 'stdin' : basename(path),
    rows: readRows(texts, shownPath, delimiter),
    /** SHA-256 of its bytes, hexadecimal; only once all rows are read. */
    digest: () => hash.digest('hex'),
  };
}

function readStdin({ stdin }: Io): AsyncIterable<Uint8Array> {
  if (stdin.isTTY) throw new UsageError('-f - reads stdin, and stdin is a terminal: pipe something into it');
  return stdin.chunks();
}

const PART_BYTES = 256 * 1_024;

async function* readFile(path: string, { cwd }: Io): AsyncGenerator<Uint8Array> {
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

async function* readRows(texts: AsyncGenerator<string>, path: string, delimiter: Delimiter | undefined): RawRows {
  const start = await readStart(texts);
  if (start.trim() === '') throw new UsageError(`${path} is empty`);
  const all = following(start, texts);
  const form = formOf(path, start);
  if (form === 'json') yield* readJson(all);
  else if (form === 'jsonl') yield* readJsonLines(all);
  else yield* readCsv(all, delimiter === undefined ? guessDelimiter(start) : delimiters[delimiter]);
}

/** The characters that are read to tell the form of a file, at most. */
const START_LENGTH = 1_000_000;

/** The start of a text, with its first line that is not blank. */
async function readStart(texts: AsyncGenerator<string>): Promise<string> {
  let start = '';
  for (;;) {
    const { value, done } = await texts.next();
    if (done) return start;
    start += value;
    const text = start.trimStart();
    if (text.includes('\n') || text.length > START_LENGTH) return start;
  }
}

async function* following(start: string, texts: AsyncGenerator<string>): AsyncGenerator<string> {
  yield start;
  yield* texts;
}

function formOf(path: string, start: string): 'csv' | 'json' | 'jsonl' {
  if (/\.(jsonl|ndjson)$/i.test(path)) return 'jsonl';
  if (/\.(csv|tsv|txt)$/i.test(path)) return 'csv';
  const first = start.trimStart().charAt(0);
  return first === '[' ? 'json' : first === '{' ? 'jsonl' : 'csv';
}
