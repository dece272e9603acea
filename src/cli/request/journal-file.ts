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
import { makePrivateFolder } from '../config/private-file.ts';
import type { Io } from '../io.ts';
import { syncFolder, writeAtomically } from '../output/file.ts';

/** A file of lines that several processes append to. Every call is made while the lock is held. */
export interface JournalFile {
  /** The lines that were appended since the last call; all of them, and `isNew`, when the file was replaced. */
  read(): { readonly lines: readonly string[]; readonly isNew: boolean };
  /** Appends lines in one write and syncs them. */
  append(lines: readonly string[]): void;
  /** Puts other lines in the place of all lines; none removes the file. */
  replace(lines: readonly string[]): void;
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

  function forget(): void {
    if (file !== null) closeSync(file);
    file = null;
    offset = 0;
    isTorn = false;
  }

  function read(): { lines: string[]; isNew: boolean } {
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
    return { lines: text.toString('utf8', 0, end).split('\n').filter(Boolean), isNew };
  }

  function append(lines: readonly string[]): void {
    const isCreated = file === null;
    file ??= openOwn(path, FLAGS | constants.O_CREAT | constants.O_EXCL, io);
    if (file === null) throw new Error(`${path} vanished`);
    const { size } = fstatSync(file);
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${lines.join('\n')}\n`);
    try {
      writeAll(file, bytes);
      fsyncSync(file);
    } catch (error) {
      ftruncateSync(file, size);
      throw error;
    }
    offset = size + bytes.length;
    isTorn = false;
    if (isCreated) syncFolder(dirname(path));
  }

  function replace(lines: readonly string[]): void {
    if (lines.length === 0) rmSync(path, { force: true });
    else writeAtomically(path, `${lines.join('\n')}\n`, 0o600, io);
    syncFolder(dirname(path));
    forget();
  }

  makePrivateFolder(dirname(path), io);
  return { read, append, replace };
}

/** Null when there is none, and it is not to be made. */
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
