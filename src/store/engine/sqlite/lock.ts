import { lstatSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartupError } from '../../errors.ts';
import { codesOf, explain, isBusy, type LocatedFile, makeOwnFile } from './file.ts';
import { findHolder, type Owner, readOwner, writeOwner } from './owner.ts';

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
