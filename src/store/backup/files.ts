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
import { codesOf, isFull } from '../engine/sqlite/file.ts';
import { StartupError } from '../errors.ts';
import { isPostgres } from '../store.ts';

/** The prefix of the names of temporary folders. */
export const WORK_PREFIX = '.lkm-work-';

/** Runs `work` with a temporary folder (mode 0700) beside a file, and removes the folder afterwards. */
export async function withWorkFolder<T>(path: string, work: (folder: string) => Promise<T>): Promise<T> {
  const parent = dirname(resolve(path));
  let folder = parent;
  try {
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    folder = mkdtempSync(join(parent, WORK_PREFIX));
    return await work(folder);
  } catch (error) {
    throw explain(error, parent, folder);
  } finally {
    if (folder !== parent) rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Moves a finished file to its place: after a crash it stands there whole, or not at all. A file at that place is replaced,
 * and kept under the name `previous` if that is given. It has both names for no longer than the move takes: a database with
 * two names is not opened.
 */
export function publish(from: string, to: string, previous: string | null = null): void {
  makeDurable(from);
  // A second name, not a move: at every moment there is a file at the path.
  if (previous !== null) linkSync(to, previous);
  try {
    renameSync(from, to);
  } catch (error) {
    if (previous !== null) rmSync(previous);
    throw error;
  }
  syncFolderOf(to);
}

/** Moves a finished file to a free place; returns false if a file was made there meanwhile. */
export function publishNew(from: string, to: string): boolean {
  makeDurable(from);
  try {
    linkSync(from, to);
    rmSync(from);
  } catch (error) {
    if (codesOf(error).code === 'EEXIST') return false;
    // A file system without hard links.
    renameSync(from, to);
  }
  syncFolderOf(to);
  return true;
}

function makeDurable(path: string): void {
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

const refused: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS'];

/** Names the folder without free space, or the file or folder that this user may not use. */
function explain(error: unknown, parent: string, folder: string): unknown {
  const options = { cause: error };
  if (isFull(error)) {
    const problem = `${parent} has no room for a copy of the database`;
    return new StartupError(problem, 'free some space, or give another', options);
  }
  if (error instanceof StartupError || !refused.includes(codesOf(error).code)) return error;
  const path = error instanceof Error && 'path' in error ? String(error.path) : parent;
  const isOwn = folder === parent || path.startsWith(folder);
  const what = isOwn ? `${parent} cannot be written to` : `${path} cannot be opened`;
  return new StartupError(what, 'check its owner and its mode', options);
}

/** Throws StartupError for PostgreSQL, which has its own tools for backups. */
export function refusePostgres(location: string): void {
  if (isPostgres(location)) {
    throw new StartupError('lkm backs up and restores SQLite files', 'for PostgreSQL use pg_dump and pg_restore');
  }
}

/** Throws StartupError when other users than its owner may read a file: it holds private keys. */
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
