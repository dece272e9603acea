import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { causeOf, codesOf } from '../engine/sqlite/file.ts';
import { StartupError } from '../errors.ts';

/** The folders in which files are made have this name, and some characters more. */
export const WORK_PREFIX = '.lkm-work-';

/** Runs `work` with a folder of its own (mode 0700) beside a file, and removes it with all that is left in it. */
export async function withWorkFolder<T>(path: string, work: (folder: string) => Promise<T>): Promise<T> {
  const parent = dirname(resolve(path));
  const folder = makeFolder(parent);
  try {
    return await work(folder);
  } catch (error) {
    throw explain(error, { parent, path: pathOf(error, folder) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeFolder(parent: string): string {
  try {
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    return mkdtempSync(join(parent, WORK_PREFIX));
  } catch (error) {
    throw explain(error, { parent, path: null });
  }
}

/** The file that an error is about; null when it is in the folder where the work is done, or nowhere. */
function pathOf(error: unknown, folder: string): string | null {
  const path = error instanceof Error && 'path' in error ? error.path : null;
  return typeof path === 'string' && !path.startsWith(folder) ? path : null;
}

/** Moves a finished file to its place: after a crash it stands there whole, or not at all. */
export function publish(from: string, to: string): void {
  finish(from);
  renameSync(from, to);
  syncFolderOf(to);
}

/** The same, where nothing stands: returns false when something has come to stand there meanwhile. */
export function publishNew(from: string, to: string): boolean {
  finish(from);
  try {
    linkSync(from, to);
    rmSync(from);
  } catch (error) {
    const { code } = codesOf(error);
    if (code === 'EEXIST') return false;
    // A file system without hard links.
    renameSync(from, to);
  }
  syncFolderOf(to);
  return true;
}

/**
 * The same where a file stands already, which is kept under another name. It has both names for no longer than the move
 * takes: a database with two names is not opened.
 */
export function replace(from: string, to: string, previous: string): void {
  finish(from);
  try {
    // A second name, not a move: at every moment there is a file at the path.
    linkSync(to, previous);
  } catch (error) {
    if (codesOf(error).code !== 'EEXIST') throw error;
    throw new StartupError(`${previous} is there already, of this same second`, 'try again');
  }
  try {
    renameSync(from, to);
  } catch (error) {
    rmSync(previous);
    throw error;
  }
  syncFolderOf(to);
}

/** Makes what was written durable, for its owner only. */
function finish(path: string): void {
  chmodSync(path, 0o600);
  sync(path);
}

function syncFolderOf(path: string): void {
  if (process.platform !== 'win32') sync(dirname(path));
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const fullDisk: readonly unknown[] = ['ENOSPC', 'EDQUOT'];
const refused: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS'];
const SQLITE_FULL = 13;

function explain(error: unknown, { parent, path }: { readonly parent: string; readonly path: string | null }): unknown {
  const { code, errcode } = codesOf(causeOf(error));
  if (fullDisk.includes(code) || (errcode & 0xff) === SQLITE_FULL) {
    return new StartupError(`${parent} has no room for a copy of the database`, 'free some space, or give another', {
      cause: error,
    });
  }
  if (error instanceof StartupError) return error;
  if (refused.includes(code)) {
    const what = path === null ? `${parent} cannot be written to` : `${path} cannot be opened`;
    return new StartupError(what, 'check its owner and its mode', { cause: error });
  }
  return error;
}

/** Throws StartupError when others than its owner may read a file: it holds private keys. */
export function requirePrivateFile(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new StartupError(`${path} does not exist`, 'check the path of the backup');
  if (!stats.isFile()) throw new StartupError(`${path} is not a file`, 'give a file that lkm db backup has written');
  if (process.platform === 'win32' || (stats.mode & 0o077) === 0) return;
  throw new StartupError(
    `${path} holds private keys, and others than its owner may open it (mode ${(stats.mode & 0o777).toString(8)})`,
    `close it: chmod 600 ${basename(path)}; if others may have read it, rotate the signing keys and the tokens`,
  );
}
