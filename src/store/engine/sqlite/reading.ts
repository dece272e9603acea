import { DatabaseSync } from 'node:sqlite';
import { connect } from './connection.ts';
import { BUSY_TIMEOUT_MS } from './file.ts';

/** How many times the copy runs: SQLite syncs the file only after a copy without a commit during it. */
const PASSES = 5;

/** Opens a database that this process has open already, on another thread, to read it and to copy its log. */
export function openSqliteReading(path: string) {
  const reader = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  reader.exec('PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384');
  let copier: DatabaseSync | undefined;
  return {
    connection: connect(reader),
    /**
     * Copies the log into the file while other connections read and write: a passive checkpoint
     * (sqlite.org/pragma.html#pragma_wal_checkpoint). When it fails, the log stays for the next try; a failing disk shows at
     * the next commit.
     */
    copyLog(): void {
      try {
        copier ??= openCopier(path);
        for (let pass = 0; pass < PASSES; pass += 1) copier.exec('PRAGMA wal_checkpoint(PASSIVE)');
      } catch {
        copier?.close();
        copier = undefined;
      }
    },
  };
}

function openCopier(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous=FULL');
  return database;
}
