import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import type { LocatedFile } from './file.ts';

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
