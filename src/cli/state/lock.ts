import { closeSync, lstatSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { codeOf } from '../failure/errors.ts';

/** A lock that one process has at a time. The system frees it with the process, however that ends. */
export interface Lock {
  release(): void;
}

/** Takes the lock of a file, for which it waits so long; null while another process has it. */
export function takeLock(path: string, waitMs = 0): Lock | null {
  makeOwnFile(path);
  const database = new DatabaseSync(path, { timeout: waitMs });
  try {
    // Nothing is written: the lock of SQLite on an empty file is all there is to it.
    database.exec('PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (sqliteCode(error) === SQLITE_BUSY) return null;
    throw error;
  }
}

/** Longer than a hundred commands that begin at once take one after the other. */
const LOCK_TIMEOUT_MS = 15_000;

/** Runs `work` under the lock of a file. Throws an error with the code `ELOCKED` when other processes hold it for so long. */
export function withLock<T>(path: string, work: () => T): T {
  const lock = takeLock(path, LOCK_TIMEOUT_MS);
  if (lock === null) throw Object.assign(new Error(`${path} is held by another process`), { code: 'ELOCKED' });
  try {
    return work();
  } finally {
    lock.release();
  }
}

/** Whether a process has the lock of a file. */
export function isLocked(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  const lock = takeLock(path);
  lock?.release();
  return lock === null;
}

/** Makes an empty file for its owner, unless there is something of that name; never follows a link. */
export function makeOwnFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

export const SQLITE_BUSY = 5;

/** The number of an error of SQLite; null for any other error. */
export const sqliteCode = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null;
