import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Driver } from '../driver.ts';
import { LocalError } from '../local-error.ts';
import { migrate } from '../migrate.ts';
import { connect } from './connection.ts';
import { groupCommit } from './group-commit.ts';
import { kyselyOn } from './kysely.ts';
import { lockFile } from './lock.ts';

/** Also waits this long inside SQLite, for a backup tool that reads the file. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens a SQLite file, new or known, for this process alone.
 *
 * The file and all beside it are readable by their owner only. Commits are durable (`synchronous=FULL`).
 *
 * @param waitMs how long to wait for another short-lived owner
 * @throws LocalError when the file is in use, is no database, or belongs to a newer lkm.
 */
export async function openSqlite(file: string, waitMs: number): Promise<Driver & { announce(url: string): void }> {
  const path = resolve(file);
  preparePath(path);
  const lock = await lockFile(path, waitMs);
  try {
    const writer = openDatabase(path);
    const kysely = kyselyOn(writer);
    await migrate(kysely);
    const reader = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    const writing = connect(writer, kysely);
    const commit = groupCommit(writer);
    return {
      reader: connect(reader, kysely),
      transaction: (work) => commit(() => work(writing)),
      announce: lock.announce,
      close: async () => {
        reader.close();
        writer.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw /file is not a database/.test(String(error))
      ? new LocalError(`${path} is not a database`, 'give another file with --db', { cause: error })
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
    throw new LocalError(`${path} cannot be opened: ${(error as Error).message}`, 'give another file with --db', {
      cause: error,
    });
  }
}

function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-32768;');
  return database;
}
