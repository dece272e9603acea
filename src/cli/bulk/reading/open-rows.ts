import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { codeOf, LocalError, UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import type { RawRows } from './raw-rows.ts';
import { type Delimiter, delimiters, guessDelimiter, readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';

/** The rows of a file, which is read once, from its start to its end. */
export interface RowSource {
  /** Its name without folders; `stdin` for `-`. */
  readonly name: string;
  readonly rows: RawRows;
  /** SHA-256 of its bytes, hexadecimal; only once all rows are read. */
  digest(): string;
}

/**
 * Streams the rows of a file of CSV, JSON lines or a JSON array. The form is known from the extension of its name, else
 * from its first character. Only a part of the file is in memory at a time. The rows reject with `UsageError` for a file
 * that is empty or not text, and with `LocalError` for one that cannot be read.
 */
export function openRows(path: string, delimiter: Delimiter | undefined, io: Io): RowSource {
  const name = path === '-' ? 'stdin' : basename(path);
  const hash = createHash('sha256');
  const texts = decoded(hashed(path === '-' ? readStdin(io) : readFile(path, io), hash), path === '-' ? name : path);
  return { name, rows: readRows({ path, delimiter }, texts), digest: () => hash.digest('hex') };
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

async function* hashed(parts: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    hash.update(part);
    yield part;
  }
}

const TO_UTF_8 = 'Save it as UTF-8, or convert it with: iconv -f ENCODING -t UTF-8';

/** The text of bytes, without the mark that some programs put before it. */
async function* decoded(parts: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (part?: Uint8Array): string => {
    try {
      return part === undefined ? decoder.decode() : decoder.decode(part, { stream: true });
    } catch (cause) {
      throw new UsageError(`${name} is not UTF-8 text`, [TO_UTF_8], { cause });
    }
  };
  for await (const part of parts) yield decode(part);
  yield decode();
}

type Kind = 'csv' | 'json' | 'jsonl';

interface Place {
  readonly path: string;
  readonly delimiter: Delimiter | undefined;
}

async function* readRows({ path, delimiter }: Place, texts: AsyncGenerator<string>): RawRows {
  const start = await readStart(texts);
  if (start.trim() === '') throw new UsageError(path === '-' ? 'stdin is empty' : `${path} is empty`);
  const kind = kindOf(path, start);
  const all = following(start, texts);
  if (kind === 'json') yield* readJson(all);
  else if (kind === 'jsonl') yield* readJsonLines(all);
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

function kindOf(path: string, start: string): Kind {
  const [, extension = ''] = /\.(\w+)$/.exec(path.toLowerCase()) ?? [];
  if (['jsonl', 'ndjson'].includes(extension)) return 'jsonl';
  if (['csv', 'tsv', 'txt'].includes(extension)) return 'csv';
  const first = start.trimStart().charAt(0);
  return first === '[' ? 'json' : first === '{' ? 'jsonl' : 'csv';
}
