import {
  accessSync,
  type BigIntStats,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { causeOf, StartupError, StorageError } from '../../errors.ts';

/** A restore renames the database that it replaces: it appends this and a time. */
export const REPLACED_SUFFIX = '.before-restore-';

/** A regular file with one name, which no link hides. */
export interface LocatedFile {
  /** Absolute, without symbolic links: every process that opens the file derives the same names from it. */
  readonly path: string;
  readonly mode: number;
  readonly isEmpty: boolean;
  readonly inode: bigint;
  /** Device and inode: the same under every name of the file. */
  readonly id: string;
}

/**
 * Finds a database file, or makes an empty file (mode 0600, new folders 0700), and opens nothing that exists: closing the
 * process's own handle drops the locks that SQLite holds on it in this process (fcntl(2)).
 *
 * @throws StartupError when it does not exist and must not be made, or is no regular file with one name
 */
export function locateFile(location: string, create: boolean): LocatedFile {
  const given = resolve(location);
  try {
    return describe(existingPath(given) ?? makeFile(given, create));
  } catch (error) {
    throw explain(error, given);
  }
}

function existingPath(given: string): string | null {
  if (statSync(given, { throwIfNoEntry: false }) !== undefined) return realpathSync(given);
  if (lstatSync(given, { throwIfNoEntry: false }) === undefined) return null;
  const hint = 'give the path of the file itself';
  throw new StartupError(`${given} is a symbolic link to a file that does not exist`, hint);
}

function makeFile(given: string, create: boolean): string {
  if (!create) {
    throw new StartupError(`${given} does not exist`, 'check the path; lkm serve and lkm db migrate make a database');
  }
  mkdirSync(dirname(given), { recursive: true, mode: 0o700 });
  const path = join(realpathSync(dirname(given)), basename(given));
  makeOwnFile(path, 0o600);
  return path;
}

/** Makes an empty file, unless the name is taken; `wx` never follows a link. */
export function makeOwnFile(path: string, mode: number): void {
  try {
    writeFileSync(path, '', { flag: 'wx', mode });
  } catch (error) {
    if (codesOf(error).code !== 'EEXIST') throw error;
  }
}

function describe(path: string): LocatedFile {
  const found = lstatSync(path, { bigint: true });
  if (found.isDirectory()) throw new StartupError(`${path} is a folder`, fileHint);
  if (!found.isFile()) throw new StartupError(`${path} is not a regular file`, fileHint);
  if (found.nlink > 1n) {
    throw new StartupError(
      `${path} has ${found.nlink} names (hard links)`,
      `remove the others, such as ${basename(path)}${REPLACED_SUFFIX}… of a restore that was cut off: SQLite loses changes under several`,
    );
  }
  if (isMountedAlone(path, readMounts())) {
    throw new StartupError(
      `${path} is mounted by itself`,
      'mount its folder: SQLite keeps the last changes in files beside it, which would be left behind',
    );
  }
  return { path, mode: Number(found.mode) & 0o666, isEmpty: found.size === 0n, inode: found.ino, id: idOf(found) };
}

const idOf = (stats: BigIntStats): string => `${stats.dev}:${stats.ino}`;

/** The table of mounts of this process, as Linux has it (proc(5), mountinfo); empty elsewhere. */
const readMounts = (): string =>
  existsSync('/proc/self/mountinfo') ? readFileSync('/proc/self/mountinfo', 'utf8') : '';

/** Whether the file itself is a mount, as in a container that mounts the file and not its folder. */
export function isMountedAlone(path: string, mounts: string): boolean {
  const written = path.replaceAll(/[ \t\n\\]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return mounts.split('\n').some((line) => line.split(' ')[4] === written);
}

/**
 * Remembers the files of an open database. Returns a function that throws StorageError when such a file was removed, renamed
 * or replaced: later writes would be lost when the last process closes it.
 */
export function rememberFiles({ path, id }: LocatedFile): () => void {
  const log = `${path}-wal`;
  const ids = { [path]: id, [log]: idOf(statSync(log, { bigint: true })) };
  return () => {
    for (const [name, known] of Object.entries(ids)) {
      const found = statSync(name, { bigint: true, throwIfNoEntry: false });
      if (found === undefined || idOf(found) !== known) {
        throw new StorageError(new Error(`${name} was removed or replaced while it was in use`));
      }
    }
  };
}

/**
 * After how many pages the log is copied into the file: 64 MiB, or an eighth of the free space if that is less. Copying seldom is
 * cheap, since each copy ends with a sync. Keys are random, so most changes write a page of their own.
 */
export const maxLogPages = (freeBytes: number): number =>
  Math.max(1_000, Math.min(16_000, Math.floor(freeBytes / 8 / 4_096)));

/** How long SQLite waits for other programs that use the file, such as a backup tool. */
export const BUSY_TIMEOUT_MS = 5_000;

/** A commit of one change needs a few pages of 4 KiB. */
const MIN_FREE_BYTES = 65_536;

/** Throws StorageError when the disk is full, or mounted read-only. */
export function checkDisk(path: string): void {
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    // Only a read-only disk counts: a change of the mode does not stop writes to an open file.
    if (codesOf(error).code === 'EROFS') throw new StorageError(error);
  }
  const { bfree, bsize } = statfsSync(dirname(path));
  if (bfree * bsize >= MIN_FREE_BYTES) return;
  throw new StorageError(Object.assign(new Error('no space is left'), { code: 'ENOSPC' }));
}

export const fileHint = 'give another file with --db';

/** Primary result codes (sqlite.org/rescode.html). */
const BUSY = 5;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

const checkRights =
  'check the owner and the mode of the file and of its folder, and that the disk is not mounted read-only';

const explanations: Readonly<Record<number, readonly [problem: string, hint: string]>> = {
  [BUSY]: ['is in use by another program', 'try again'],
  [READ_ONLY]: ['cannot be written to', checkRights],
  [IO_ERROR]: ['cannot be read or written: the disk failed', 'check the disk, and that it is not full'],
  [CORRUPT]: ['is damaged', 'keep it as it is, and restore a backup under another name'],
  [FULL]: ['cannot be written to: the disk is full', 'free some space, then start again'],
  [CANNOT_OPEN]: ['cannot be opened', checkRights],
  [NOT_A_DATABASE]: ['is not a database', fileHint],
};

/** The StartupError that says in one line why a file cannot be opened as the database. */
export function explain(error: unknown, path: string): StartupError {
  if (error instanceof StartupError) return error;
  const unknown = [`cannot be opened: ${causeOf(error).message}`, fileHint] as const;
  const [problem, hint] = explanations[primaryCode(error)] ?? unknown;
  return new StartupError(`${path} ${problem}`, hint, { cause: error });
}

/** As {@link explain} for known errors of SQLite and the system; returns other errors unchanged. */
export const explainKnown = (error: unknown, path: string): unknown =>
  primaryCode(error) in explanations ? explain(error, path) : error;

export const isBusy = (error: unknown): boolean => primaryCode(error) === BUSY;

export const isFull = (error: unknown): boolean => primaryCode(error) === FULL;

/** Whether the file is not a SQLite database. */
export const isForeign = (error: unknown): boolean => primaryCode(error) === NOT_A_DATABASE;

/** The primary result code of SQLite. Errors of the system with the same meaning get the same code. */
function primaryCode(error: unknown): number {
  const { code, errcode } = codesOf(error);
  if (code === 'EROFS') return READ_ONLY;
  return code === 'ENOSPC' || code === 'EDQUOT' ? FULL : errcode & 0xff;
}

/** The codes of the innermost cause: of the system (`EEXIST`), and of SQLite (0 without a code). */
export function codesOf(error: unknown): { readonly code: unknown; readonly errcode: number } {
  const cause = causeOf(error);
  const code = 'code' in cause ? cause.code : undefined;
  return { code, errcode: 'errcode' in cause && typeof cause.errcode === 'number' ? cause.errcode : 0 };
}
