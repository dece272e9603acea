import { DatabaseSync } from 'node:sqlite';
import { migrate } from '../../migrate.ts';
import type { Driver } from '../driver.ts';
import { connect } from './connection.ts';
import { BUSY_TIMEOUT_MS, openSqliteFile } from './file.ts';
import { groupCommit } from './group-commit.ts';
import { snapshotOf } from './snapshot.ts';

/**
 * Opens a SQLite file, new or known, for this process alone, and brings its schema up to date.
 *
 * The file and all beside it are readable by their owner only. Commits are durable (`synchronous=FULL`).
 *
 * @param waitMs how long to wait for another short-lived owner
 * @throws StartupError when the file is in use, is no database, or belongs to a newer lkm.
 */
export async function openSqlite(file: string, waitMs: number): Promise<Driver> {
  const { path, writer, kysely, lock, close } = await openSqliteFile(file, waitMs);
  try {
    await migrate(kysely);
    const reader = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    const writing = connect(writer, kysely);
    const snapshot = snapshotOf(reader);
    const commit = groupCommit(writer, snapshot.release);
    return {
      reader: connect(reader, kysely, snapshot.hold),
      transaction: (work) => commit.transaction(() => work(writing)),
      settled: commit.settled,
      announce: lock.announce,
      close: async () => {
        reader.close();
        close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
