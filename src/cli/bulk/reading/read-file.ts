import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileError, LocalError, UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { openDecoder, trimmed } from '../../values/text.ts';
import { type Form, type Layout, LINES_PER_FILE, OWN_LAYOUT, type RawRow, type Report } from './raw-row.ts';
import { delimiters, guessDelimiter, readCsv } from './read-csv.ts';
import { readJsonArray, readJsonLines, readJsonPages } from './read-json.ts';

/** The form of a file, as far as options name it. */
export interface Writing {
  readonly delimiter?: keyof typeof delimiters | undefined;
  readonly encoding?: string | undefined;
}

/**
 * Streams the rows of a file (CSV, JSON lines or a JSON array) and reports problems of its form. The rows reject with
 * `UsageError` for an empty file or one without text, and with `LocalError` for an unreadable file.
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

/** The rows of several files, one after the other. The lines of a file are counted from its own multiple of `LINES_PER_FILE`. */
export function readFiles(paths: readonly string[], writing: Writing, report: Report, io: Io) {
  const files = paths.map((path, at) =>
    readFile(path, writing, (line, text) => report(line && at * LINES_PER_FILE + line, text), io),
  );
  async function* rows(): AsyncGenerator<RawRow> {
    for (const [at, file] of files.entries()) {
      for await (const row of file.rows) yield { ...row, line: at * LINES_PER_FILE + row.line };
    }
  }
  return {
    names: files.map(({ name }) => name),
    rows: rows(),
    digests: () => files.map(({ digest }) => digest()),
    /** The layout of the first file, with the columns of all. */
    layout(): Layout {
      const [first, ...others] = files.map(({ layout }) => layout());
      if (first === undefined || others.length === 0) return first ?? OWN_LAYOUT;
      return { ...first, names: [...new Set([first, ...others].flatMap(({ names }) => names))], isByPlace: false };
    },
    guessedEncodings: () =>
      files.flatMap(({ name, guessedEncoding }) => {
        const encoding = guessedEncoding();
        return encoding === null ? [] : [`${name} is read as ${encoding}; if it is not: --encoding NAME`];
      }),
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
    throw new LocalError(`cannot read ${path}${fileError(cause)}`, [], { cause });
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

/** Characters that are read to recognise the form of a file. */
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
  const read = { json: readJsonArray, jsonl: readJsonLines, pages: readJsonPages }[kind];
  for await (const row of read(all, report)) {
    for (const [name] of row.written) if (!form.names.includes(name)) form.names.push(name);
    yield row;
  }
}

/** Excel reads the delimiter from a first line such as `sep=;`. */
const separatorLine = /^"?sep=(\\t|[^\r\n"])"?[\t ,;|]*(?:\r\n?|\n)/i;

function kindOf(path: string, start: string): 'csv' | 'json' | 'jsonl' | 'pages' {
  if (/\.(jsonl|ndjson)$/i.test(path)) return 'jsonl';
  const text = start.trimStart();
  // Some programs and browsers save JSON with another name.
  if (/\.(csv|tsv|txt)$/i.test(path) && !/^(?:\[\s*)?\{\s*"/.test(text)) return 'csv';
  if (text.startsWith('[')) return 'json';
  if (!text.startsWith('{')) return 'csv';
  const [line = ''] = text.split(/[\r\n]/, 1);
  try {
    JSON.parse(line);
    return 'jsonl';
  } catch {
    // An object of several lines.
    return 'pages';
  }
}
