import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { z } from 'zod';
import { type Hint, LocalError, ofForm } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { sanitise } from '../output/terminal.ts';
import { quote } from '../output/words.ts';
import { readLocalFile } from '../values/files.ts';

type Place = Pick<Io, 'env' | 'home' | 'platform'>;

/** `LKM_CONFIG_DIR`, else the system's folder; null if neither exists. */
export const findConfigDir = (io: Place): string | null =>
  io.env.LKM_CONFIG_DIR || folderIn(io, ['APPDATA', ''], ['XDG_CONFIG_HOME', '.config']);

/** Throws `LocalError` if there is no such folder. */
export const configDir = (io: Place): string => findConfigDir(io) ?? noFolder('the configuration', 'LKM_CONFIG_DIR');

/** `LKM_STATE_DIR`, else the system's folder; null if neither exists. */
export const findStateDir = (io: Place): string | null =>
  io.env.LKM_STATE_DIR || folderIn(io, ['LOCALAPPDATA', 'State'], ['XDG_STATE_HOME', '.local/state']);

/** Throws `LocalError` if there is no such folder. */
export const stateDir = (io: Place): string =>
  findStateDir(io) ?? noFolder('changes without a response', 'LKM_STATE_DIR');

/** The default database of `lkm serve`. Throws `LocalError` without a folder for it. */
export const defaultDatabase = (io: Place): string =>
  join(
    folderIn(io, ['LOCALAPPDATA', 'Data'], ['XDG_DATA_HOME', '.local/share']) ??
      noFolder('the database', '--db, LKM_DB or XDG_DATA_HOME'),
    'lkm.db',
  );

type Named = readonly [variable: string, folder: string];

function folderIn({ env, home, platform }: Place, [ofWindows, inside]: Named, [variable, inHome]: Named) {
  const windows = platform === 'win32' ? env[ofWindows] : undefined;
  if (windows) return join(windows, 'lkm', inside);
  const { [variable]: named = '' } = env;
  // A relative path is ignored (XDG Base Directory Specification).
  if (isAbsolute(named)) return join(named, 'lkm');
  return home === null ? null : join(home, inHome, 'lkm');
}

function noFolder(what: string, names: string): never {
  throw new LocalError(`there is no folder for ${what}: this user has no home folder; set ${names}, or HOME`);
}

export type SecretFlags = Pick<GlobalFlags, 'allowReadableSecrets'>;

/**
 * Reads a file that contains a secret, or a pipe such as `<(pass show lkm)`. A file that other users can read is accepted
 * with a warning if it is a mounted secret or the flag allows it. Throws `LocalError` as `checkPrivate` does.
 */
export const readPrivateFile = (path: string, io: Io, { allowReadableSecrets = false }: SecretFlags = {}): string =>
  readLocalFile(path, io, (file) => {
    const stats = fstatSync(file);
    const isSafe = (stats.mode & WRITABLE_BY_OTHERS) === 0 && isTrustedOwner(stats, io);
    const isAllowed = () => allowReadableSecrets || isMountedSecret(path, io);
    const isTaken = stats.isFile() && isExposed(stats, io) && isSafe && isAllowed();
    if (!isTaken) return checkPrivate(stats, path, io);
    void io.stderr.write(`warning: ${sanitise(path)} holds a secret, and other users can read it\n`);
  });

/** Reads a private file of JSON. Throws `LocalError` with these hints for a damaged file. */
export function readPrivateJson<T>(path: string, schema: z.ZodType<T>, hints: readonly Hint[], io: Io): T {
  const text = readPrivateFile(path, io);
  return ofForm(`${path} is damaged`, hints, () => schema.parse(JSON.parse(text)));
}

/** Where container systems mount secrets; the files there are links (`..data/token` of Kubernetes). */
const isMountedSecret = (path: string, { cwd }: Io): boolean =>
  /^(\/var)?\/run\/secrets\//.test(realpathSync(resolve(cwd, path)));

export function isPrivateFolder(folder: string, { uid }: Io): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return false;
  return uid === null || (stats.uid === uid && (stats.mode & 0o022) === 0);
}

/** Throws `LocalError` for a folder into which other users can put files. */
export function checkPrivateFolder(folder: string, io: Io): void {
  if (isPrivateFolder(folder, io)) return;
  throw new LocalError(`${folder} is not safe: others can put files into it`, [
    ['Nothing was sent. Close it:', `chmod go-w ${quote(folder)}`],
    'Or set LKM_STATE_DIR to a folder of your own.',
  ]);
}

const WRITABLE_BY_OTHERS = 0o022;

type Reader = Pick<Io, 'uid' | 'groups'>;

/** Whether other users can read or write the file. A file that root gives to a group of this process is not exposed. */
function isExposed({ uid: owner, gid, mode }: Stats, { uid, groups }: Reader): boolean {
  const isOfGroup = owner === 0 && uid !== 0 && groups.includes(gid);
  return (mode & (isOfGroup ? 0o027 : 0o077)) !== 0;
}

const isTrustedOwner = ({ uid: owner }: Stats, { uid }: Reader): boolean => uid === 0 || owner === uid || owner === 0;

/** Throws `LocalError` for a file that other users can read, write or own. Windows is not checked. */
export function checkPrivate(stats: Stats, path: string, io: Pick<Io, 'uid' | 'groups' | 'cwd'>): void {
  if (io.uid === null || !stats.isFile()) return;
  if (isExposed(stats, io)) {
    const close = ['Close it:', `chmod 600 ${quote(resolve(io.cwd, path))}`] as const;
    throw new LocalError(
      `${path} holds a secret, and others can ${stats.mode & WRITABLE_BY_OTHERS ? 'write' : 'read'} it`,
      [io.uid === 0 || stats.uid === io.uid ? close : OF_ANOTHER_OWNER],
    );
  }
  if (!isTrustedOwner(stats, io)) throw new LocalError(`${path} belongs to another user, who may have written it`);
}

const OF_ANOTHER_OWNER =
  'It is not yours to close: have it mounted as 0400 of this user, or as 0440 of root and a group of this user.';

/** Writes a file that readers see completely or not at all: a temporary file, synced, then renamed. */
export function writeAtomically(path: string, text: string, mode: number, io: Io): void {
  const full = resolve(io.cwd, path);
  const temporary = `${full}.${io.uuid()}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode, flush: true });
    renameSync(temporary, full);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Syncs a folder: a renamed file is then found after a power failure. */
export function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Windows opens no folder, and needs no sync.
  }
}
