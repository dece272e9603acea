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
import { setTimeout as sleep } from 'node:timers/promises';
import { StartupError } from '../../errors.ts';
import { codesOf, explain, isBusy, type LocatedFile, makeOwnFile } from './file.ts';

/** The right to use a database file, held by one process at a time. */
export interface FileLock {
  /** Tells others where the owner can be reached. */
  publishUrl(url: string): void;
  release(): void;
}

/** An open connection, and the lock that keeps other processes of lkm out. */
export interface ExclusiveOpening {
  readonly lock: FileLock;
  readonly database: DatabaseSync;
}

const RETRY_MS = 25;

/** The least time to wait for other programs that have the file open, such as a backup, in milliseconds. */
const OTHER_PROGRAMS_TIMEOUT_MS = 1_000;

/**
 * Opens a database file for this process alone, waiting up to `waitMs` for an owner that is not a server (decision 0013).
 *
 * It takes two locks of SQLite, which the system releases when the process ends in any way. An exclusive transaction on
 * `<file>-lock` makes the processes of lkm wait in a queue. The lock of the database file itself decides: a new process
 * must hold it exclusively for a moment and shares it from then on. Other programs can then read, but no other lkm can
 * open the file, under whatever name, even when the files beside it were removed.
 *
 * @param open opens the file and takes its lock; throws `SQLITE_BUSY` while others have the file open
 * @throws StartupError when another process keeps the file
 */
export async function openAlone(
  file: LocatedFile,
  waitMs: number,
  open: () => DatabaseSync,
): Promise<ExclusiveOpening> {
  const { path, mode } = file;
  const started = monotonicMs();
  const ownerPath = `${path}-owner`;
  const queueLock = await waitForQueueLock(path, mode, started + waitMs);
  const release = () => {
    try {
      rmSync(ownerPath, { force: true });
    } catch {
      // It only informs; the lock is what counts.
    }
    queueLock.close();
  };
  try {
    const database = await retryOpen(file, started + Math.max(waitMs, OTHER_PROGRAMS_TIMEOUT_MS), open);
    try {
      writeOwner(ownerPath, { pid: process.pid }, mode);
    } catch (error) {
      database.close();
      throw error;
    }
    return {
      database,
      lock: { publishUrl: (url) => writeOwner(ownerPath, { pid: process.pid, url }, mode), release },
    };
  } catch (error) {
    queueLock.close();
    throw explain(error, path);
  }
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

/** From a clock that nobody sets. To load `performance` takes longer than most waits. */
const monotonicMs = (): number => process.uptime() * 1_000;

/** Waits in the queue for `<file>-lock`. */
async function waitForQueueLock(path: string, mode: number, deadline: number): Promise<DatabaseSync> {
  for (;;) {
    const held = tryQueueLock(`${path}-lock`, mode);
    if (held !== null) return held;
    const owner = readOwner(`${path}-owner`);
    if (owner.url !== undefined || monotonicMs() > deadline) throw ownedBy(path, owner);
    await sleep(RETRY_MS);
  }
}

function tryQueueLock(path: string, mode: number): DatabaseSync | null {
  try {
    makeOwnFile(path, mode);
    const found = lstatSync(path);
    if (!found.isFile() || found.nlink > 1 || found.size > 0) {
      throw new StartupError(`${path} is not a lock file: lkm's is empty`, 'move it away; lkm makes its own');
    }
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      // Nothing is written: should a link take the place of the file at this moment, its target stays as it is.
      database.exec('PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE');
      return database;
    } catch (error) {
      database.close();
      if (isBusy(error)) return null;
      throw error;
    }
  } catch (error) {
    throw explain(error, path);
  }
}

async function retryOpen(file: LocatedFile, deadline: number, open: () => DatabaseSync): Promise<DatabaseSync> {
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (!isBusy(error)) throw error;
      const owner = readOwner(`${file.path}-owner`);
      if (owner.url !== undefined && isRunning(owner.pid)) throw ownedBy(file.path, owner);
      if (monotonicMs() > deadline) throw openElsewhere(file);
      await sleep(RETRY_MS);
    }
  }
}

function isRunning(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch (error) {
    return codesOf(error).code === 'EPERM';
  }
}

function ownedBy(path: string, { pid, url }: Owner): StartupError {
  const process = pid === undefined ? 'another process' : `process ${pid}`;
  return url === undefined
    ? new StartupError(`${path} is in use by ${process}`, 'wait until it has finished')
    : new StartupError(
        `${path} is served by ${process} at ${url}`,
        `use that server (--base-url ${url}), or stop it first`,
      );
}

function openElsewhere(file: LocatedFile): StartupError {
  const pid = findHolder(file);
  return new StartupError(
    `${file.path} is open in another program${pid === undefined ? '' : ` (process ${pid})`}`,
    'close it there, or wait until it has finished',
  );
}

/** The process that uses a database file, as it describes itself to others. */
export interface Owner {
  readonly pid?: number;
  /** Where it serves the database. */
  readonly url?: string;
}

const MAX_OWNER_BYTES = 4_096;

/** Writes who owns the database, into a new file that replaces whatever stands there; links are not followed. */
function writeOwner(path: string, owner: Owner, mode: number): void {
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
function readOwner(path: string): Owner {
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
