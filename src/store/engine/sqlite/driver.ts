import { DatabaseSync } from 'node:sqlite';
import { migrate } from '../../migrate.ts';
import type { Driver, OpenOptions } from '../driver.ts';
import { connect } from './connection.ts';
import { BUSY_TIMEOUT_MS, openSqliteFile } from './file.ts';
import { groupCommit } from './group-commit.ts';
import { explain } from './open-errors.ts';
import { snapshotOf } from './snapshot.ts';

/**
 * Opens a SQLite file, new or known, for this process alone, and brings its schema up to date.
 *
 * What it makes is readable by its owner only. Commits are durable (`synchronous=FULL`).
 *
 * @throws StartupError when the file is in use, is not a database of lkm, or belongs to a newer lkm
 */
export async function openSqlite(location: string, options?: OpenOptions): Promise<Driver> {
  const file = await openSqliteFile(location, options);
  const { path, writer, kysely, lock } = file;
  try {
    await migrate(kysely);
    const reader = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    const writing = connect(writer, kysely);
    const snapshot = snapshotOf(reader);
    const commit = groupCommit(writer, () => {
      file.check();
      snapshot.release();
    });
    return {
      warnings: file.warnings,
      reader: connect(reader, kysely, snapshot.hold),
      isOnlyWriter: true,
      transaction: (work) => commit.transaction(() => work(writing)),
      settled: commit.settled,
      check: async () => file.check(),
      announce: lock.announce,
      close: async () => {
        await commit.finish();
        try {
          reader.close();
        } finally {
          file.close();
        }
      },
    };
  } catch (error) {
    file.close();
    throw explain(error, path);
  }
}
