import { existsSync, lstatSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartupError } from '../../errors.ts';
import type { Owner } from '../driver.ts';
import { codesOf, explain, isBusy, type LocatedFile, makeOwnFile } from './file.ts';

const RETRY_MS = 25;

/** The least time to wait for other programs that have the file open, such as a backup. */
const OTHER_PROGRAMS_TIMEOUT_MS = 1_000;

/**
 * Opens a database file for this process alone, waiting up to `waitMs` for an owner that is not a server (decision 0013).
 *
 * It takes two locks of SQLite, which the system releases when the process ends in any way. An exclusive transaction on
 * `<file>-lock` makes the processes of lkm wait in a queue. The lock of the database file itself decides: a new process must
 * hold it exclusively for a moment and shares it from then on. Other programs can then read, but no other lkm can open the
 * file, under whatever name, even when the files beside it were removed.
 *
 * @param open opens the file and takes its lock; throws `SQLITE_BUSY` while other programs have the file open
 * @throws StartupError when another process keeps the file
 */
export async function openAlone(file: LocatedFile, waitMs: number, open: () => DatabaseSync) {
  const { path, mode } = file;
  const started = monotonicMs();
  const takeQueue = () => lockQueue(`${path}-lock`, mode);
  const queue = await whenFree(path, takeQueue, started + waitMs, (owner) => ownedBy(path, owner));
  let database: DatabaseSync | undefined;
  try {
    const deadline = started + Math.max(waitMs, OTHER_PROGRAMS_TIMEOUT_MS);
    database = await whenFree(path, open, deadline, () => openElsewhere(file));
    writeOwner(path, { pid: process.pid }, mode);
  } catch (error) {
    database?.close();
    queue.close();
    throw explain(error, path);
  }
  const publishUrl = (url: string) => writeOwner(path, { pid: process.pid, url }, mode);
  const release = () => {
    try {
      rmSync(`${path}-owner`, { force: true });
    } catch {
      // The file only informs other processes; the lock decides.
    }
    queue.close();
  };
  return { database, lock: { publishUrl, release } };
}

/** Milliseconds since the process began. To load `performance` takes longer than most waits. */
export const monotonicMs = (): number => process.uptime() * 1_000;

/** Calls `open` until the file is not busy, the deadline has passed, or a server owns the file. */
async function whenFree<T>(
  path: string,
  open: () => T,
  deadline: number,
  explainBusy: (owner: Owner) => StartupError,
): Promise<T> {
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (!isBusy(error)) throw error;
      const owner = readOwner(path);
      if (owner.url !== undefined && isRunning(owner.pid)) throw ownedBy(path, owner);
      if (monotonicMs() > deadline) throw explainBusy(owner);
      await sleep(RETRY_MS);
    }
  }
}

function lockQueue(path: string, mode: number): DatabaseSync {
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
      throw error;
    }
  } catch (error) {
    throw isBusy(error) ? error : explain(error, path);
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
  const owner = pid === undefined ? 'another process' : `process ${pid}`;
  if (url === undefined) return new StartupError(`${path} is in use by ${owner}`, 'wait until it has finished');
  return new StartupError(
    `${path} is served by ${owner} at ${url}`,
    `use that server (--base-url ${url}), or stop it first`,
  );
}

/**
 * The owner of a database file, or null. Holds its lock for a moment only and makes no file; a process that starts at the same
 * moment may find the lock taken.
 */
export function findOwner({ path }: LocatedFile): Owner | null {
  if (lstatSync(`${path}-lock`, { throwIfNoEntry: false }) === undefined) return null;
  using queue = new DatabaseSync(`${path}-lock`, { readOnly: true, timeout: 0 });
  try {
    queue.exec('SELECT 1 FROM sqlite_master');
    return null;
  } catch (error) {
    if (isBusy(error)) return readOwner(path);
    throw explain(error, `${path}-lock`);
  }
}

const MAX_OWNER_BYTES = 4_096;

/** Writes the owner of a database into a new file, which replaces any file there; `wx` follows no link. */
function writeOwner(path: string, owner: Owner, mode: number): void {
  rmSync(`${path}-owner`, { force: true });
  writeFileSync(`${path}-owner`, JSON.stringify(owner), { flag: 'wx', mode });
}

/** Reads the owner of a database, for information only; null if the file cannot be read or parsed. */
function readOwner(path: string): Owner {
  try {
    const found = lstatSync(`${path}-owner`);
    if (!found.isFile() || found.size > MAX_OWNER_BYTES) return {};
    const { pid, url } = JSON.parse(readFileSync(`${path}-owner`, 'utf8')) as Record<string, unknown>;
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return {};
    return typeof url === 'string' && /^https?:\/\/[\x21-\x7e]+$/.test(url) ? { pid, url } : { pid };
  } catch {
    return {}; // written a moment after the lock is taken
  }
}

const LOCK = /^\d+: (?:POSIX|OFDLCK) +\S+ +(READ|WRITE) (-?\d+) [0-9a-f]+:[0-9a-f]+:(\d+) (\d+) \S+$/gm;

/** Where an exclusive transaction of SQLite locks a file (sqlite.org/src/file/src/os_unix.c, PENDING_BYTE). */
const EXCLUSIVE_START = '1073741824';

/** The locks of all processes as Linux lists them (proc_locks(5)); empty on other systems. */
function listLocks() {
  const text = existsSync('/proc/locks') ? readFileSync('/proc/locks', 'utf8') : '';
  return [...text.matchAll(LOCK)].map(([, type, pid = '', inode = '', start]) => ({
    pid,
    inode,
    isExclusive: type === 'WRITE' && start === EXCLUSIVE_START,
  }));
}

/** The namespace in which a process sees the locks of all processes (PROC_PID_INIT_INO of the kernel). */
const INITIAL_NAMESPACE = 'pid:[4026531836]';

/** The kernel gives the list in parts, and it may miss a lock while other locks change: so it is read this often. */
const READS = 3;

/**
 * Whether only tools that read the file have it open: all such programs are known, and none of them is lkm. Every lkm holds
 * an exclusive lock on a `-lock` file, even on a removed file, from before it opens a database until after it has closed it.
 * False where the system does not tell, so that the file has to be free.
 */
export function isHeldOnlyByOtherTools({ path, inode }: LocatedFile): boolean {
  try {
    if (readlinkSync('/proc/self/ns/pid') !== INITIAL_NAMESPACE) return false;
    const own = [inode, lstatSync(`${path}-lock`, { bigint: true }).ino].map(String);
    return Array.from({ length: READS }, listLocks).every((locks) => {
      const holders = locks.filter((lock) => lock.inode === String(inode)).map(({ pid }) => pid);
      const ofLkm = locks.filter((lock) => lock.isExclusive && !own.includes(lock.inode)).map(({ pid }) => pid);
      return holders.length > 0 && holders.every((pid) => Number(pid) > 0 && !ofLkm.includes(pid));
    });
  } catch {
    return false;
  }
}

function openElsewhere({ path, inode }: LocatedFile): StartupError {
  const holder = listLocks().find((lock) => lock.inode === String(inode));
  const by = holder === undefined ? '' : ` (process ${holder.pid})`;
  return new StartupError(`${path} is open in another program${by}`, 'close it there, or wait until it has finished');
}
