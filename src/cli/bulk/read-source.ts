import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { codeOf, LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { type Delimiter, delimiters } from './options.ts';
import type { Problem } from './problems.ts';
import { readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';

/** A row of a file before its columns are known. */
export interface RawRow {
  /** The line it begins on, from 1. */
  readonly line: number;
  /** Names and values; those of a CSV file are texts. */
  readonly cells: readonly (readonly [name: string, value: unknown])[];
}

/** The rows of a file, and what is wrong with its form. */
export interface RawRows {
  readonly rows: readonly RawRow[];
  readonly problems: readonly Problem[];
}

/** A file as it was read. */
export interface Source extends RawRows {
  /** Its name without folders; `stdin` for `-`. */
  readonly name: string;
  /** Its absolute path; null for stdin. */
  readonly path: string | null;
  /** SHA-256 of its bytes, hexadecimal. */
  readonly digest: string;
}

/** Reads CSV, JSON lines or a JSON array; which of them it is says the name of the file, else its first character. */
export async function readSource(path: string, delimiter: Delimiter | undefined, io: Io): Promise<Source> {
  const content = path === '-' ? await readStdin(io) : readFile(path, io);
  const text = content.replace(/^\ufeff/, '');
  const name = path === '-' ? 'stdin' : basename(path);
  const place = { name, path: path === '-' ? null : resolve(io.cwd, path) };
  const digest = createHash('sha256').update(content).digest('hex');
  if (text.trim() === '') throw new UsageError(`${name} is empty`);
  return { ...place, digest, ...(await readRows(kindOf(path, text), text, delimiter)) };
}

async function readStdin(io: Io): Promise<string> {
  if (io.stdin.isTTY) throw new UsageError('-f - reads stdin, and stdin is a terminal: pipe something into it');
  return io.stdin.readText();
}

function readFile(path: string, io: Io): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(resolve(io.cwd, path)));
  } catch (cause) {
    if (cause instanceof TypeError) throw new UsageError(`${path} is not UTF-8 text`, [], { cause });
    throw new LocalError(`cannot read ${path} (${codeOf(cause)})`, [], { cause });
  }
}

type Kind = 'csv' | 'json' | 'jsonl';

function kindOf(path: string, text: string): Kind {
  const [, extension = ''] = /\.(\w+)$/.exec(path.toLowerCase()) ?? [];
  if (['jsonl', 'ndjson'].includes(extension)) return 'jsonl';
  if (['csv', 'tsv', 'txt'].includes(extension)) return 'csv';
  const first = text.trimStart().charAt(0);
  return first === '[' ? 'json' : first === '{' ? 'jsonl' : 'csv';
}

async function readRows(kind: Kind, text: string, delimiter: Delimiter | undefined): Promise<RawRows> {
  if (kind === 'json') return readJson(text);
  return kind === 'jsonl' ? readJsonLines(text) : readCsv(text, delimiter && delimiters[delimiter]);
}
