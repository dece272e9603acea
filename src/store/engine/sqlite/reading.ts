import { lstatSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { OpenForReading } from '../driver.ts';
import { connect, tablesOf } from './connection.ts';
import { refuseForeign, warningsOf } from './driver.ts';
import { explain, explainKnown, locateFile } from './file.ts';
import { findOwner, type Owner } from './owner.ts';

/**
 * Opens a SQLite file to look at it, beside a process that may have it for itself. Null when there is
 * none, or an empty one.
 *
 * @throws StartupError when it is no database of lkm, or cannot be read
 */
export async function openForReading(location: string): Promise<OpenForReading | null> {
  if (lstatSync(location, { throwIfNoEntry: false }) === undefined) return null;
  const file = locateFile(location, false);
  const { path } = file;
  if (file.isEmpty) return null;
  refuseForeign(path);
  const owner = findOwner(file);
  try {
    const database = new DatabaseSync(addressOf(path, owner), { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    const connection = connect(database);
    return {
      engine: 'SQLite',
      connection,
      tables: () => tablesOf(connection),
      owner,
      warnings: warningsOf(file),
      explain: (error) => explainKnown(error, path),
      close: async () => database.close(),
    };
  } catch (error) {
    throw explain(error, path);
  }
}

const BUSY_TIMEOUT_MS = 1_000;

/** Where nobody writes and nothing stands in a log, the file is whole by itself, and none is made beside it. */
function addressOf(path: string, owner: Owner | null): URL {
  const url = pathToFileURL(path);
  if (owner !== null) return url;
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) url.searchParams.set('immutable', '1');
  return url;
}
