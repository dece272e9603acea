import { constants, copyFileSync, existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inspect, LOCK_TIMEOUT_MS } from '../database.ts';
import { openSqliteFile, refuseOtherSchemas } from '../engine/sqlite/driver.ts';
import { explain, locateFile, REPLACED_SUFFIX } from '../engine/sqlite/file.ts';
import { findOwner } from '../engine/sqlite/lock.ts';
import { StartupError } from '../errors.ts';
import type { Sealing } from '../secrets.ts';
import { openStore } from '../store.ts';
import { publish, refusePostgres, requirePrivateFile, withWorkFolder } from './files.ts';
import { checkManifest, type Manifest } from './manifest.ts';

/** Whether there is any file at the target of a restore. */
export const isTaken = (target: string): boolean => (statSync(target, { throwIfNoEntry: false })?.size ?? 0) > 0;

/**
 * Replaces the database at `target` by a copy of a backup. After a crash the target is the old database or the new one,
 * whole. The old database is kept beside it, under a name with `stamp` in it. Returns the paths of both.
 *
 * @throws StartupError when the backup is damaged or open to other users, or the target is in use, or is not to be replaced
 */
export async function restoreBackup(
  file: string,
  target: string,
  { replace, stamp }: { readonly replace: boolean; readonly stamp: string },
): Promise<{ readonly target: string; readonly previous: string | null }> {
  refusePostgres(target);
  const path = resolve(target);
  const isReplaced = isTaken(path);
  if (isReplaced && !replace) throw new StartupError(`${path} is there already`, 'give another path');
  if (!isReplaced && hasLog(path)) {
    // SQLite would read a log that is left there as the log of the restored database.
    const problem = `${path}-wal is the log of a database that is not there`;
    throw new StartupError(problem, 'move it away, or give another path');
  }
  return withCopy(file, path, async (copy) => {
    const old = await openSqliteFile(path, { waitMs: LOCK_TIMEOUT_MS });
    const previous = isReplaced ? `${path}${REPLACED_SUFFIX}${stamp}` : null;
    try {
      // Another restore may have put its file there while this process checked its copy.
      const isUsed = old.writer.prepare('SELECT 1 FROM sqlite_master').get() !== undefined;
      if (isUsed && !isReplaced) throw new StartupError(`${path} is there already`, 'give another path');
      if (previous !== null && existsSync(previous)) {
        throw new StartupError(`${previous} is there already, of this same second`, 'try again');
      }
      // Other processes wait for the lock until the new file is in its place.
      old.writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      old.writer.close();
      if (existsSync(`${path}-wal`)) {
        throw new StartupError(`${path} is open in another program`, 'close it there, then restore again');
      }
      publish(copy, path, previous);
    } finally {
      await old.close();
    }
    return { target: path, previous };
  });
}

/** Whether a database has a log with changes that are not in its file yet, or an open process that may write to a log. */
function hasLog(path: string): boolean {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  return log !== undefined && (log.size > 0 || (existsSync(path) && findOwner(locateFile(path, false)) !== null));
}

/**
 * Checks a backup as `restoreBackup` does, and opens a copy of it with the master key as a server would. The copy is made in
 * a folder beside `workPath`, and removed. Returns the manifest of the backup; null for a backup without a manifest.
 *
 * @throws StartupError when it could not be restored, or its secrets are sealed under another key
 */
export const tryBackup = (
  file: string,
  { workPath, sealing }: { readonly workPath: string; readonly sealing: Sealing },
): Promise<Manifest | null> =>
  withCopy(file, workPath, async (copy, manifest) => {
    const store = await openStore(copy, { sealing });
    try {
      await store.check();
    } finally {
      await store.close();
    }
    return manifest;
  });

/**
 * Runs `work` with a copy of a backup in a folder of its own beside `workPath`; the copy was compared with the manifest, and
 * checked page by page.
 *
 * @throws StartupError when the backup is damaged, is no backup, or is open to other users
 */
function withCopy<T>(
  file: string,
  workPath: string,
  work: (copy: string, manifest: Manifest | null) => Promise<T>,
): Promise<T> {
  const backup = resolve(file);
  requirePrivateFile(backup);
  if (hasLog(backup)) {
    const hint = `take one of it: lkm db backup NEW --db ${backup}`;
    throw new StartupError(`${backup} is a database with its log, not a backup`, hint);
  }
  return withWorkFolder(workPath, async (folder) => {
    const copy = join(folder, 'copy.db');
    copyFileSync(backup, copy, constants.COPYFILE_FICLONE);
    const manifest = await checkManifest(backup, copy);
    checkPages(copy, backup);
    await inspect(copy);
    return work(copy, manifest);
  });
}

/** Reads every page and every index, and every reference between tables. */
function checkPages(copy: string, backup: string): void {
  const damaged = (what: unknown) => new StartupError(`${backup} is damaged: ${what}`, 'take another backup');
  try {
    using database = new DatabaseSync(copy, { timeout: 0 });
    refuseOtherSchemas(database, backup);
    const [page] = database.prepare('PRAGMA integrity_check(1)').all();
    if (page?.integrity_check !== 'ok') throw damaged(page?.integrity_check);
    const [reference] = database.prepare('PRAGMA foreign_key_check').all();
    if (reference !== undefined) throw damaged(`a row of ${reference.table} refers to one that is not there`);
  } catch (error) {
    throw explain(error, backup);
  }
}
