import { closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { StartupError } from '../../startup-error.ts';
import { explain, fileHint } from './open-errors.ts';

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
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function describe(path: string): LocatedFile {
  const found = lstatSync(path, { bigint: true });
  if (found.isDirectory()) throw new StartupError(`${path} is a folder`, fileHint);
  if (!found.isFile()) throw new StartupError(`${path} is not a regular file`, fileHint);
  if (found.nlink > 1n) {
    throw new StartupError(
      `${path} has ${found.nlink} names (hard links)`,
      'leave it one name, or copy the file: SQLite loses changes that are made under several',
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
