import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { Tables } from '../../schema.ts';
import { StartupError } from '../../startup-error.ts';
import { kyselyOn } from './kysely.ts';
import { type FileLock, lockFile } from './lock.ts';

/** Also waits this long inside SQLite, for a backup tool that reads the file. */
export const BUSY_TIMEOUT_MS = 5_000;

/**
 * Durable commits. Undo pages of savepoints stay in memory, not in temporary files. The log is copied into the file
 * every 64 MiB, not every 4: keys are random, so that in a large database each has a page of its own to be copied, and
 * the sync of all of them is what costs (sqlite.org/pragma.html).
 */
const SETTINGS = `
  PRAGMA journal_mode=WAL;
  PRAGMA synchronous=FULL;
  PRAGMA wal_autocheckpoint=16000;
  PRAGMA temp_store=MEMORY;
  PRAGMA cache_size=-16384;
`;

/** A SQLite file that belongs to this process until it is closed. */
export interface SqliteFile {
  /** Absolute. */
  readonly path: string;
  readonly writer: DatabaseSync;
  readonly kysely: Kysely<Tables>;
  readonly lock: FileLock;
  close(): void;
}

/**
 * Opens a SQLite file, new or known, for this process alone; its schema may be of any age.
 *
 * @param waitMs how long to wait for another short-lived owner
 * @throws StartupError when the file is in use or is no database
 */
export async function openSqliteFile(file: string, waitMs: number): Promise<SqliteFile> {
  const path = resolve(file);
  preparePath(path);
  const lock = await lockFile(path, waitMs);
  const writer = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  const close = () => {
    writer.close();
    lock.release();
  };
  try {
    writer.exec(SETTINGS);
    return { path, writer, kysely: kyselyOn(writer), lock, close };
  } catch (error) {
    close();
    throw /file is not a database/.test(String(error))
      ? new StartupError(`${path} is not a database`, 'give another file with --db', { cause: error })
      : error;
  }
}

function preparePath(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, '', { mode: 0o600, flag: 'a' });
    // SQLite gives its -wal and -shm files the mode of the database.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  } catch (error) {
    throw new StartupError(`${path} cannot be opened: ${(error as Error).message}`, 'give another file with --db', {
      cause: error,
    });
  }
}
