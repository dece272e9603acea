import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { StartupError, StorageError } from '../../errors.ts';

/** A regular file with one name, which no link hides. */
export interface LocatedFile {
  /** Absolute, without symbolic links: every process that opens the file derives the same names from it. */
  readonly path: string;
  readonly mode: number;
  readonly isEmpty: boolean;
  /** What identifies the file, whatever its name. */
  readonly device: bigint;
  readonly inode: bigint;
}

/**
 * Finds a database file, or makes an empty one (mode 0600, new folders 0700), and opens nothing that exists: closing
 * a file of one's own drops the locks that SQLite holds on it in this process (fcntl(2)).
 *
 * @throws StartupError when it does not exist and must not be made, or is no regular file with one name
 */
export function locateFile(location: string, create: boolean): LocatedFile {
  const given = resolve(location);
  try {
    const path = existingPath(given) ?? makeFile(given, create);
    return describe(path);
  } catch (error) {
    throw explain(error, given);
  }
}

function existingPath(given: string): string | null {
  if (statSync(given, { throwIfNoEntry: false }) !== undefined) return realpathSync(given);
  if (lstatSync(given, { throwIfNoEntry: false }) === undefined) return null;
  throw new StartupError(
    `${given} is a symbolic link to a file that does not exist`,
    'give the path of the file itself',
  );
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

/** Makes an empty file, unless there is something of that name, and never follows a link. */
export function makeOwnFile(path: string, mode: number): void {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW = 0 } = constants;
  try {
    closeSync(openSync(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, mode));
  } catch (error) {
    if (codesOf(error).code !== 'EEXIST') throw error;
  }
}

/** What the name of a database has behind it once a restore has put another in its place. */
export const KEPT = '.before-restore-';

/** The table of mounts of this process, as Linux has it (proc(5), mountinfo); empty elsewhere. */
function readMounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}

/** Whether a file, and not a folder that it is in, is mounted: as a container has it that is given the file alone. */
export function isMountedAlone(path: string, mounts: string): boolean {
  if (!mounts.includes(basename(path).split(/[\s\\]/, 1)[0] ?? '')) return false;
  const written = path.replaceAll(/[ \t\n\\]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return mounts.split('\n').some((line) => line.split(' ')[4] === written);
}

function describe(path: string): LocatedFile {
  const found = lstatSync(path, { bigint: true });
  if (found.isDirectory()) throw new StartupError(`${path} is a folder`, fileHint);
  if (!found.isFile()) throw new StartupError(`${path} is not a regular file`, fileHint);
  if (found.nlink > 1n) {
    throw new StartupError(
      `${path} has ${found.nlink} names (hard links)`,
      `remove the others, such as ${basename(path)}${KEPT}… of a restore that was cut off: SQLite loses changes under several`,
    );
  }
  if (isMountedAlone(path, readMounts())) {
    throw new StartupError(
      `${path} is mounted by itself`,
      'mount its folder: SQLite keeps the last changes in files beside it, which would be left behind',
    );
  }
  return {
    path,
    mode: Number(found.mode) & 0o666,
    isEmpty: found.size === 0n,
    device: found.dev,
    inode: found.ino,
  };
}

/**
 * Remembers which files an open database consists of. The function it makes throws StorageError when one of them was
 * removed, renamed or replaced since: what is written from then on would be lost with the last process that has them open.
 */
export function rememberFiles({ path, device, inode }: LocatedFile): () => void {
  const log = statSync(`${path}-wal`, { bigint: true });
  const files = [
    { path, device, inode },
    { path: `${path}-wal`, device: log.dev, inode: log.ino },
  ];
  return () => {
    for (const file of files) {
      const found = statSync(file.path, { bigint: true, throwIfNoEntry: false });
      if (!isSame(found, file)) {
        throw new StorageError(new Error(`${file.path} was removed or replaced while it was in use`));
      }
    }
  };
}

function isSame(found: BigIntStats | undefined, { device, inode }: { device: bigint; inode: bigint }): boolean {
  return found !== undefined && found.dev === device && found.ino === inode;
}

/** What to do when a file is no database of lkm. */
export const fileHint = 'give another file with --db';

/** By primary result code (sqlite.org/rescode.html). */
const BUSY = 5;
const explanations: Readonly<Record<number, readonly [problem: string, hint: string]>> = {
  8: ['cannot be written to', 'check the owner and the mode of the file and of its folder'],
  10: ['cannot be read or written: the disk failed', 'check the disk, and that it is not full'],
  11: ['is damaged', 'keep it as it is, and restore a backup under another name'],
  13: ['cannot be written to: the disk is full', 'free some space, then start again'],
  14: ['cannot be opened', 'check the owner and the mode of the file and of its folder'],
  26: ['is not a database', fileHint],
};

const DISK_IS_FULL = 13;
const diskIsFull: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

/** The StartupError that says in one line why a file cannot be opened as the database. */
export function explain(error: unknown, path: string): StartupError {
  if (error instanceof StartupError) return error;
  const cause = causeOf(error);
  const { code, errcode } = codesOf(cause);
  if (isReadOnlyDisk(dirname(path))) {
    const hint = 'SQLite writes beside the file also to read it: copy it elsewhere, or let the disk be written to';
    return new StartupError(`${path} is on a disk that is mounted read-only`, hint, { cause: error });
  }
  const known = explanations[primaryCode(code, errcode)];
  if (known !== undefined) return new StartupError(`${path} ${known[0]}`, known[1], { cause: error });
  if (isBusy(cause)) return new StartupError(`${path} is in use by another program`, 'try again', { cause: error });
  return new StartupError(`${path} cannot be opened: ${cause.message}`, fileHint, { cause: error });
}

/** The same for an error of any work on the database; one of another kind is returned as it is. */
export function explainKnown(error: unknown, path: string): unknown {
  const { code, errcode } = codesOf(causeOf(error));
  const primary = primaryCode(code, errcode);
  return primary === BUSY || primary in explanations ? explain(error, path) : error;
}

/** The result code of SQLite, without what it says more exactly; also for an error of the system that means the same. */
const primaryCode = (code: unknown, errcode: number): number =>
  diskIsFull.includes(code) ? DISK_IS_FULL : errcode & 0xff;

/** Whether nothing in a folder can be written, whoever one is. */
export function isReadOnlyDisk(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return codesOf(error).code === 'EROFS';
  }
}

/** Whether another connection has a lock that is in the way. */
export function isBusy(error: unknown): boolean {
  return (codesOf(error).errcode & 0xff) === BUSY;
}

/** Whether what was read is no database of SQLite. */
export function isForeign(error: unknown): boolean {
  return codesOf(error).errcode === 26;
}

/** The innermost cause: the error of SQLite or of the system. */
export function causeOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? causeOf(error.cause) : error;
}

/** The code of an error of the system (`EEXIST`), and the number of one of SQLite; 0 when it has none. */
export function codesOf(error: unknown): { readonly code: unknown; readonly errcode: number } {
  if (!(error instanceof Error)) return { code: undefined, errcode: 0 };
  const code = 'code' in error ? error.code : undefined;
  return { code, errcode: 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0 };
}
