import { closeSync, lstatSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { codeOf } from '../failure/errors.ts';

/** A lock that at most one process holds. The system frees it when the process ends in any way. */
export interface Lock {
  release(): void;
}

/** Takes the lock of a file, waiting up to `waitMs`; null if another process still holds it. */
export function takeLock(path: string, waitMs = 0): Lock | null {
  makeOwnFile(path);
  const database = new DatabaseSync(path, { timeout: waitMs });
  try {
    // Nothing is written: SQLite's lock on an empty file serves as the lock.
    database.exec('PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (sqliteCode(error) === SQLITE_BUSY) return null;
    throw error;
  }
}

/** Longer than a hundred simultaneous commands take one after the other. */
const LOCK_TIMEOUT_MS = 15_000;

/** Runs `work` while holding the lock of a file. Throws an error with the code `ELOCKED` after the timeout. */
export function withLock<T>(path: string, work: () => T): T {
  const lock = takeLock(path, LOCK_TIMEOUT_MS);
  if (lock === null) throw Object.assign(new Error(`${path} is held by another process`), { code: 'ELOCKED' });
  try {
    return work();
  } finally {
    lock.release();
  }
}

export function isLocked(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  const lock = takeLock(path);
  lock?.release();
  return lock === null;
}

/** Creates an empty private file unless something has that name; never follows a link. */
export function makeOwnFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

export const SQLITE_BUSY = 5;

/** SQLite's error code; null for other errors. */
export const sqliteCode = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null;
