import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { explain, isBusy, type LocatedFile } from './file.ts';

/** The process that uses a database file, as it describes itself to others. */
export interface Owner {
  readonly pid?: number;
  /** Where it serves the database. */
  readonly url?: string;
}

/**
 * Who has a database file for itself, or null; takes no lock that lasts, and makes no file. A process that starts in the
 * same instant may find the queue taken.
 */
export function findOwner({ path }: LocatedFile): Owner | null {
  if (lstatSync(`${path}-lock`, { throwIfNoEntry: false }) === undefined) return null;
  const queue = new DatabaseSync(`${path}-lock`, { readOnly: true, timeout: 0 });
  try {
    queue.exec('SELECT 1 FROM sqlite_master');
    return null;
  } catch (error) {
    if (isBusy(error)) return readOwner(`${path}-owner`);
    throw explain(error, `${path}-lock`);
  } finally {
    queue.close();
  }
}

const MAX_OWNER_BYTES = 4_096;

/** Writes who owns the database, into a new file that replaces whatever stands there; links are not followed. */
export function writeOwner(path: string, owner: Owner, mode: number): void {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW = 0 } = constants;
  rmSync(path, { force: true });
  const file = openSync(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, mode);
  try {
    writeFileSync(file, JSON.stringify(owner));
  } finally {
    closeSync(file);
  }
}

/** Reads who owns the database. It only informs: a file that cannot be read, or has another form, counts as absent. */
export function readOwner(path: string): Owner {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const found = fstatSync(file);
      if (!found.isFile() || found.size > MAX_OWNER_BYTES) return {};
      return toOwner(JSON.parse(readFileSync(file, 'utf8')));
    } finally {
      closeSync(file);
    }
  } catch {
    return {}; // written a moment after the lock is taken
  }
}

function toOwner(value: unknown): Owner {
  if (typeof value !== 'object' || value === null || !('pid' in value)) return {};
  const { pid } = value;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return {};
  const url = 'url' in value ? value.url : undefined;
  return typeof url === 'string' && /^https?:\/\/[\x21-\x7e]+$/.test(url) ? { pid, url } : { pid };
}

/** A lock as Linux lists it (proc_locks(5)). */
interface HeldLock {
  readonly pid: string;
  readonly inode: string;
  readonly isWrite: boolean;
  readonly start: string;
}

const LOCK = /^\d+: (?:POSIX|OFDLCK) +\S+ +(READ|WRITE) (-?\d+) [0-9a-f]+:[0-9a-f]+:(\d+) (\d+) \S+$/gm;

/** Where an exclusive transaction of SQLite locks a file (sqlite.org/src/file/src/os_unix.c, PENDING_BYTE). */
const EXCLUSIVE_START = '1073741824';

/** The namespace in which a process sees the locks of all others (PROC_PID_INIT_INO of the kernel). */
const INITIAL_NAMESPACE = 'pid:[4026531836]';

/** The list is given in parts; one that others change meanwhile may miss a lock. */
const READS = 3;

/**
 * Whether the programs that have the file open are all known, and none is lkm: tools that read it. Every lkm holds an
 * exclusive lock on a `-lock` file, even one that was removed, from before it opens a database until after it has
 * closed it. False where the system does not tell, so that the file has to be free.
 */
export function isHeldOnlyByOtherTools(file: LocatedFile): boolean {
  try {
    if (readlinkSync('/proc/self/ns/pid') !== INITIAL_NAMESPACE) return false;
    const ownLockInode = String(lstatSync(`${file.path}-lock`, { bigint: true }).ino);
    return Array.from({ length: READS }, listLocks).every((locks) => areHoldersOtherTools(file, locks, ownLockInode));
  } catch {
    return false;
  }
}

function areHoldersOtherTools(file: LocatedFile, locks: readonly HeldLock[], ownLockInode: string): boolean {
  const holders = locks.filter(({ inode }) => inode === String(file.inode)).map(({ pid }) => pid);
  const isLkm = (pid: string) =>
    locks.some(
      (lock) =>
        lock.pid === pid &&
        lock.isWrite &&
        lock.start === EXCLUSIVE_START &&
        ![ownLockInode, String(file.inode)].includes(lock.inode),
    );
  return holders.length > 0 && holders.every((pid) => Number(pid) > 0 && !isLkm(pid));
}

/** A process that has a lock on the file, where the system tells. */
export function findHolder({ inode }: LocatedFile): string | undefined {
  try {
    return listLocks().find((lock) => lock.inode === String(inode))?.pid;
  } catch {
    return undefined;
  }
}

function listLocks(): HeldLock[] {
  return [...readFileSync('/proc/locks', 'utf8').matchAll(LOCK)].map(([, type, pid = '', inode = '', start = '']) => ({
    pid,
    inode,
    isWrite: type === 'WRITE',
    start,
  }));
}
