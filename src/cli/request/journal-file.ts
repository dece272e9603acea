import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateFolder, syncFolder, writeAtomically } from '../config/files.ts';
import type { Io } from '../io.ts';

/** A process that makes changes, and writes each down before it is sent. */
export interface Writer {
  readonly run: string;
  readonly host: string;
  readonly pid: number;
  /** See `Io.processStartTime`. */
  readonly startTime: string;
}

/** A change as it was written down: enough to make the same request again under the same key. */
export interface Intent {
  /** The process that wrote it down, and its number there. */
  readonly run: string;
  readonly row: number;
  /** Base URL, absolute path of a database file, or address of a PostgreSQL database without its password. */
  readonly origin: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** The exact text. */
  readonly body: string | null;
  readonly idempotencyKey: string;
  readonly createdAt: string;
}

/** A line of the journal: a process begins, writes a change down, takes over that of an earlier one, or is done with it. */
export type Line =
  | ({ readonly type: 'run' } & Writer)
  | ({ readonly type: 'row' } & Intent)
  | { readonly type: 'taken'; readonly run: string; readonly row: number; readonly by: string }
  | { readonly type: 'done'; readonly run: string; readonly row: number };

const VERSION = 1;

const formatLine = (line: Line): string => JSON.stringify({ version: VERSION, ...line });

/** Null for a line that is broken; `foreign` for one that a newer lkm wrote, which is kept as it is. */
function parseLine(text: string): Line | 'foreign' | null {
  try {
    const line: unknown = JSON.parse(text);
    if (!isObject(line) || typeof line.version !== 'number') return null;
    if (line.version > VERSION) return 'foreign';
    return isLine(line) ? line : null;
  } catch {
    return null;
  }
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function isLine(line: Fields): line is Fields & Line {
  if (typeof line.run !== 'string') return false;
  if (line.type === 'run') return isRun(line);
  if (typeof line.row !== 'number') return false;
  return line.type === 'row' ? isRow(line) : line.type === 'done' || (line.type === 'taken' && isText(line.by));
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isRun = ({ host, pid, startTime }: Fields): boolean =>
  isText(host) && Number.isSafeInteger(pid) && isText(startTime);

const isRow = ({ origin, method, path, body, idempotencyKey, createdAt }: Fields): boolean =>
  [origin, method, path].every(isText) &&
  (body === null || isText(body)) &&
  isText(idempotencyKey) &&
  /^[!-~]{1,255}$/.test(idempotencyKey) &&
  isText(createdAt) &&
  !Number.isNaN(Date.parse(createdAt));

/** Two requests with the same fingerprint are the same request. */
export const fingerprint = ({ origin, method, path, body }: RequestIdentity): string =>
  JSON.stringify([origin, method, path, body]);

export type RequestIdentity = Pick<Intent, 'origin' | 'method' | 'path' | 'body'>;

/** A file of lines that several processes append to. The caller holds the lock of the folder. */
export interface JournalFile {
  /** The lines that were appended since the last call; all of them, and `isNew`, when the file was replaced. */
  read(): { readonly lines: readonly Line[]; readonly isNew: boolean };
  /** Appends lines in one write and syncs them. */
  append(lines: readonly Line[]): void;
  /** Replaces all lines but those of a newer lkm; the file is removed when no line is left. */
  replace(lines: readonly Line[]): void;
  /** How many lines were read or written; broken ones too, those of a newer lkm not. */
  readonly lineCount: number;
}

/** Neither a link nor a device is opened: what is there must be a file of our own. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens the journal at `path`; its folder is made when it is not there. Throws when the folder is not safe. */
export function openJournalFile(path: string, io: Io): JournalFile {
  // Kept open, so that the number of its inode is not given to another file.
  let file: number | null = null;
  let offset = 0;
  /** Whether the last line has no end: its writer was killed. */
  let isTorn = false;
  let lineCount = 0;
  /** Lines that a newer lkm wrote. */
  let foreign: string[] = [];

  function forget(): void {
    if (file !== null) closeSync(file);
    file = null;
    offset = 0;
    isTorn = false;
    lineCount = 0;
    foreign = [];
  }

  function read(): { lines: Line[]; isNew: boolean } {
    const isNew = file === null || !isFileAt(path, file, offset);
    if (isNew) {
      forget();
      file = openOwn(path, FLAGS, io);
    }
    if (file === null) return { lines: [], isNew };
    const text = readFrom(file, offset);
    const end = text.lastIndexOf(0x0a) + 1;
    isTorn = end < text.length;
    offset += end;
    const lines = text.toString('utf8', 0, end).split('\n').filter(Boolean).flatMap(parse);
    return { lines, isNew };
  }

  function parse(text: string): Line[] {
    const line = parseLine(text);
    if (line === 'foreign') foreign.push(text);
    else lineCount += 1;
    return line === 'foreign' || line === null ? [] : [line];
  }

  function append(lines: readonly Line[]): void {
    const isCreated = file === null;
    file ??= openOwn(path, FLAGS | constants.O_CREAT | constants.O_EXCL, io);
    if (file === null) throw new Error(`${path} vanished`);
    const { size } = fstatSync(file);
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${lines.map(formatLine).join('\n')}\n`);
    try {
      writeAll(file, bytes);
      fsyncSync(file);
    } catch (error) {
      ftruncateSync(file, size);
      throw error;
    }
    offset = size + bytes.length;
    isTorn = false;
    lineCount += lines.length;
    if (isCreated) syncFolder(dirname(path));
  }

  function replace(lines: readonly Line[]): void {
    const texts = [...foreign, ...lines.map(formatLine)];
    if (texts.length === 0) rmSync(path, { force: true });
    else writeAtomically(path, `${texts.join('\n')}\n`, 0o600, io);
    syncFolder(dirname(path));
    forget();
  }

  makePrivateFolder(dirname(path), io);
  return {
    read,
    append,
    replace,
    get lineCount() {
      return lineCount;
    },
  };
}

/** Opens a regular file of this user; null when there is none and `flags` do not create it. */
function openOwn(path: string, flags: number, io: Io): number | null {
  try {
    const file = openSync(path, flags, 0o600);
    const { uid } = fstatSync(file);
    if (fstatSync(file).isFile() && (io.uid === null || uid === io.uid)) return file;
    closeSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  throw Object.assign(new Error(`${path} is not a file of this user`), { code: 'EPERM' });
}

/** Whether `path` still names the file that is open, and nothing was cut off from it. */
function isFileAt(path: string, file: number, offset: number): boolean {
  const there = lstatSync(path, { throwIfNoEntry: false });
  const open = fstatSync(file);
  return there !== undefined && there.ino === open.ino && there.dev === open.dev && open.size >= offset;
}

function readFrom(file: number, offset: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - offset));
  let length = 0;
  while (length < bytes.length) {
    const count = readSync(file, bytes, length, bytes.length - length, offset + length);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
}
