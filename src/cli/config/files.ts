import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { quote } from '../output/words.ts';
import { readLocalFile } from '../values/files.ts';

type Place = Pick<Io, 'env' | 'home' | 'platform'>;

/** The folder of the configuration: `LKM_CONFIG_DIR`, else the place the system has for it. */
export const configDir = (io: Place): string =>
  io.env.LKM_CONFIG_DIR || folderIn(io, ['APPDATA', ''], ['XDG_CONFIG_HOME', '.config']);

/** The folder of what is under way: `LKM_STATE_DIR`, else the place the system has for it. */
export const stateDir = (io: Place): string =>
  io.env.LKM_STATE_DIR || folderIn(io, ['LOCALAPPDATA', 'State'], ['XDG_STATE_HOME', '.local/state']);

/** The database that `lkm serve` uses when none is named. */
export const defaultDatabase = (io: Place): string =>
  join(folderIn(io, ['LOCALAPPDATA', 'Data'], ['XDG_DATA_HOME', '.local/share']), 'lkm.db');

type Named = readonly [variable: string, folder: string];

function folderIn({ env, home, platform }: Place, [ofWindows, inside]: Named, [variable, inHome]: Named): string {
  const windows = platform === 'win32' ? env[ofWindows] : undefined;
  if (windows) return join(windows, 'lkm', inside);
  const { [variable]: named = '' } = env;
  // One that is not absolute counts for nothing (XDG Base Directory Specification).
  return join(isAbsolute(named) ? named : join(home, inHome), 'lkm');
}

/** Reads a file that holds a secret; a pipe, as of `<(pass show lkm)`, as it is. Throws `LocalError` as `checkPrivate` does. */
export const readPrivateFile = (path: string, io: Io): string =>
  readLocalFile(path, io, (file) => checkPrivate(fstatSync(file), path, io));

export function isPrivateFolder(folder: string, { uid }: Io): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return false;
  return uid === null || (stats.uid === uid && (stats.mode & 0o022) === 0);
}

/** Throws `LocalError` for a file that others can read, or that belongs to one of them. Windows is not looked at. */
export function checkPrivate(stats: Stats, path: string, { uid, cwd }: Io): void {
  if (uid === null || !stats.isFile()) return;
  if ((stats.mode & 0o077) !== 0) {
    throw new LocalError(`${path} holds a secret, and others can read it`, [
      ['Close it:', `chmod 600 ${quote(resolve(cwd, path))}`],
    ]);
  }
  const isOwn = uid === 0 || stats.uid === uid || stats.uid === 0;
  if (!isOwn) throw new LocalError(`${path} belongs to another user, who may have written it`);
}

/** Writes a file so that a reader sees all of it or nothing: aside, on the disk, then in its place. */
export function writeAtomically(path: string, text: string, mode: number, io: Io): void {
  const full = resolve(io.cwd, path);
  const aside = `${full}.${io.uuid()}.tmp`;
  try {
    writeFileSync(aside, text, { flag: 'wx', mode, flush: true });
    renameSync(aside, full);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

/** Puts the names in a folder on the disk: a file that was renamed is found there after a power failure. */
export function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Windows keeps its names itself and opens no folder.
  }
}
