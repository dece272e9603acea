import { closeSync, fstatSync, lstatSync, mkdirSync, openSync, readFileSync, type Stats } from 'node:fs';
import { resolve } from 'node:path';
import { LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { quote } from '../request/rerun.ts';

/**
 * Reads a file that holds a secret. Throws `LocalError` when other users can read it, or when it belongs to one of
 * them; a pipe, as of `<(pass show lkm)`, is read as it is.
 */
export function readPrivateFile(path: string, io: Io): string {
  const full = resolve(io.cwd, path);
  const file = openForReading(path, full);
  try {
    const stats = fstatSync(file);
    if (isOpenToOthers(stats, io)) throw openToOthers(path, full);
    if (isOfAnother(stats, io)) throw new LocalError(`${path} belongs to another user, who may have written it`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Makes a folder for its owner only. Throws an error with the code `EPERM` when others could put files into it. */
export function makePrivateFolder(folder: string, io: Io): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isPrivateFolder(folder, io)) throw Object.assign(new Error(`${folder} is not safe`), { code: 'EPERM' });
}

/** Whether there is such a folder, and only its owner can put files into it. */
export function isPrivateFolder(folder: string, { uid }: Io): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return false;
  return uid === null || (stats.uid === uid && (stats.mode & 0o022) === 0);
}

/** Whether other users may read a file. Windows has other ways to say so, which are not looked at. */
export const isOpenToOthers = (stats: Stats, { uid }: Pick<Io, 'uid'>): boolean =>
  uid !== null && stats.isFile() && (stats.mode & 0o077) !== 0;

/** The command that closes a file to others. */
export const closeCommand = (full: string): string => `chmod 600 ${quote(full)}`;

const isOfAnother = (stats: Stats, { uid }: Io): boolean =>
  uid !== null && uid !== 0 && stats.isFile() && stats.uid !== uid && stats.uid !== 0;

const openToOthers = (path: string, full: string): LocalError =>
  new LocalError(`${path} holds a secret, and others can read it`, [['Close it:', closeCommand(full)]]);

function openForReading(path: string, full: string): number {
  try {
    return openSync(full, 'r');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new LocalError(`cannot read ${path} (${code})`, [], { cause: error });
  }
}
