import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Instant } from '../../contract/scalars.ts';
import { inspect } from '../database.ts';
import { openSqliteFile } from '../engine/sqlite/driver.ts';
import { explain, locateFile, makeOwnFile } from '../engine/sqlite/file.ts';
import { StartupError } from '../errors.ts';
import { publish, publishNew, refusePostgres, withWorkFolder } from './files.ts';
import { describeBackup, type Manifest, manifestOf } from './manifest.ts';

/** Pages that are copied between two looks at the signal: 4 MiB. */
const PAGES_PER_STEP = 1_000;

const BUSY_TIMEOUT_MS = 5_000;

interface BackupOptions {
  readonly now: Instant;
  /** Replaces a backup that is there already. */
  readonly replace?: boolean;
  /** Ends the backup early: its reason is thrown, and nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes a SQLite database, as it is at one moment, into one file (mode 0600), while a server goes on using it, and a
 * manifest beside it. The file holds every change that was acknowledged before. Returns the manifest.
 *
 * @throws StartupError when the database cannot be read, or the file not be written
 */
export async function takeBackup(
  location: string,
  file: string,
  { now, replace = false, signal }: BackupOptions,
): Promise<Manifest> {
  refusePostgres(location);
  const target = resolve(file);
  const manifestPath = manifestOf(target);
  const taken = [target, manifestPath].filter(existsSync);
  for (const path of taken) refuseToReplace(path, location);
  if (!replace && taken[0] !== undefined) throw isThere(taken[0]);
  return withWorkFolder(target, async (folder) => {
    const [copy, written] = [join(folder, 'backup.db'), join(folder, 'manifest.json')];
    await copyFile(location, copy, signal);
    const manifest = await describeBackup(copy, now);
    writeFileSync(written, `${JSON.stringify(manifest, null, 2)}\n`);
    signal?.throwIfAborted();
    // In this order: a backup without a manifest can be restored, a backup with a wrong manifest cannot.
    if (replace) {
      rmSync(manifestPath, { force: true });
      publish(copy, target);
    } else if (!publishNew(copy, target)) throw isThere(target);
    publish(written, manifestPath);
    return manifest;
  });
}

/** Throws StartupError for the database itself, and for what is no file, such as a folder or a device. */
function refuseToReplace(path: string, location: string): void {
  const found = statSync(path);
  if (!found.isFile()) throw new StartupError(`${path} is not a file`, 'give the name of a file');
  const source = statSync(location, { throwIfNoEntry: false });
  if (source?.ino !== found.ino || source.dev !== found.dev) return;
  throw new StartupError(`${path} is the database itself`, 'give another name for its backup');
}

const isThere = (path: string): StartupError =>
  new StartupError(`${path} is there already`, 'give another name, or --force to replace it');

/**
 * Reads the file on a connection of its own, inside one read transaction: it sees a single state while other processes
 * write, and takes no lock of the owner. Steps run on another thread.
 */
async function copyFile(location: string, copy: string, signal: AbortSignal | undefined): Promise<void> {
  const { path, isEmpty } = locateFile(location, false);
  if (isEmpty) throw new StartupError(`${path} is empty, not a database`, 'check the path of the database');
  await inspect(path);
  makeOwnFile(copy, 0o600);
  const hadLog = existsSync(`${path}-wal`);
  try {
    using source = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    source.exec('BEGIN; SELECT 1 FROM sqlite_master');
    // No other process knows the copy, so that it needs no locks. With locks, another lkm that opens the database would take
    // this process for its owner.
    const unlocked = pathToFileURL(copy);
    unlocked.searchParams.set('nolock', '1');
    const progress = () => signal?.throwIfAborted();
    await backup(source, unlocked.href, { rate: PAGES_PER_STEP, progress });
  } catch (error) {
    signal?.throwIfAborted();
    throw explain(error, path);
  }
  if (hadLog) return;
  // The read-only connection leaves -wal and -shm behind if no other process has the file open; a connection that may write
  // removes them. If this user may not open such a connection, they stay and do no harm.
  const file = await openSqliteFile(path, { create: false }).catch(() => null);
  await file?.close();
}
