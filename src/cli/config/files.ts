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
import { LocalError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { sanitise } from '../output/terminal.ts';
import { quote } from '../output/words.ts';
import { readLocalFile } from '../values/files.ts';

type Place = Pick<Io, 'env' | 'home' | 'platform'>;

/** The folder of the configuration: `LKM_CONFIG_DIR`, else the place the system has for it; null where nothing names it. */
export const findConfigDir = (io: Place): string | null =>
  io.env.LKM_CONFIG_DIR || folderIn(io, ['APPDATA', ''], ['XDG_CONFIG_HOME', '.config']);

/** The same. Throws `LocalError` where nothing names it. */
export const configDir = (io: Place): string => findConfigDir(io) ?? noFolder('the configuration', 'LKM_CONFIG_DIR');

/** The folder of what is under way: `LKM_STATE_DIR`, else the place the system has for it; null where nothing names it. */
export const findStateDir = (io: Place): string | null =>
  io.env.LKM_STATE_DIR || folderIn(io, ['LOCALAPPDATA', 'State'], ['XDG_STATE_HOME', '.local/state']);

/** The same. Throws `LocalError` where nothing names it. */
export const stateDir = (io: Place): string =>
  findStateDir(io) ?? noFolder('changes without a response', 'LKM_STATE_DIR');

/** The database that `lkm serve` uses when none is named. Throws `LocalError` where nothing names its folder. */
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
  // One that is not absolute counts for nothing (XDG Base Directory Specification).
  if (isAbsolute(named)) return join(named, 'lkm');
  return home === null ? null : join(home, inHome, 'lkm');
}

function noFolder(what: string, names: string): never {
  throw new LocalError(`there is no folder for ${what}: this user has no home folder; set ${names}, or HOME`);
}

/** Whether secrets are taken from files that others can read. */
export type SecretFlags = Pick<GlobalFlags, 'allowReadableSecrets'>;

/**
 * Reads a file that holds a secret; a pipe, as of `<(pass show lkm)`, as it is. One that others can read too is taken with a
 * warning from a mount of secrets, or where that is allowed. Throws `LocalError` as `checkPrivate` does.
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

/** Where container systems mount secrets. Their files are links there, as `..data/token` of Kubernetes. */
const isMountedSecret = (path: string, { cwd }: Io): boolean =>
  /^(\/var)?\/run\/secrets\//.test(realpathSync(resolve(cwd, path)));

export function isPrivateFolder(folder: string, { uid }: Io): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return false;
  return uid === null || (stats.uid === uid && (stats.mode & 0o022) === 0);
}

/** Throws `LocalError` for a folder into which others can put files, with which a command would then work. */
export function checkPrivateFolder(folder: string, io: Io): void {
  if (isPrivateFolder(folder, io)) return;
  throw new LocalError(`${folder} is not safe: others can put files into it`, [
    ['Nothing was sent. Close it:', `chmod go-w ${quote(folder)}`],
    'Or set LKM_STATE_DIR to a folder of your own.',
  ]);
}

const WRITABLE_BY_OTHERS = 0o022;

type Reader = Pick<Io, 'uid' | 'groups'>;

/** Whether others than this process can read or write it. What root gives to a group of this process alone is not exposed. */
function isExposed({ uid: owner, gid, mode }: Stats, { uid, groups }: Reader): boolean {
  const isOfGroup = owner === 0 && uid !== 0 && groups.includes(gid);
  return (mode & (isOfGroup ? 0o027 : 0o077)) !== 0;
}

const isTrustedOwner = ({ uid: owner }: Stats, { uid }: Reader): boolean => uid === 0 || owner === uid || owner === 0;

/** Throws `LocalError` for a file that others can read, or that belongs to one of them. Windows is not looked at. */
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
