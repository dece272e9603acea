import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { copyDatabase } from '../copy.ts';
import { inspect, withDatabase } from '../database.ts';
import { raw } from '../engine/sql.ts';
import { openSqliteFile } from '../engine/sqlite/driver.ts';
import { explain, locateFile, makeOwnFile } from '../engine/sqlite/file.ts';
import { StartupError } from '../errors.ts';
import { ensureSchema, migrate } from '../migrate.ts';
import { isPostgres } from '../store.ts';
import { publish, publishNew, withWorkFolder } from './files.ts';

/** Pages that are copied between two looks at the signal: 4 MiB. */
const PAGES_PER_STEP = 1_000;

const BUSY_TIMEOUT_MS = 5_000;

/**
 * Writes a whole database, as it is at one moment, into one SQLite file (mode 0600), while servers go on using it. The
 * file holds every change that was acknowledged before. Returns its size in bytes.
 *
 * @param options `replace` takes the place of a file that is there already; `signal` ends the backup early: its reason is
 * thrown, and nothing is left behind
 * @throws StartupError when the database cannot be read, or the file not be written
 */
export async function takeBackup(
  location: string,
  file: string,
  { replace = false, signal }: { readonly replace?: boolean; readonly signal?: AbortSignal | undefined } = {},
): Promise<number> {
  const target = resolve(file);
  if (!replace && existsSync(target)) throw isThere(target);
  return withWorkFolder(target, async (folder) => {
    const copy = join(folder, 'backup.db');
    if (isPostgres(location)) await copySnapshot(location, copy, signal);
    else await copyFile(location, copy, signal);
    signal?.throwIfAborted();
    if (replace) publish(copy, target);
    else if (!publishNew(copy, target)) throw isThere(target);
    return statSync(target).size;
  });
}

const isThere = (target: string): StartupError =>
  new StartupError(`${target} is there already`, 'give another name, or --force to replace it');

/**
 * Reads the file on a connection of its own, inside one read transaction: it sees one state of the log, whoever writes
 * meanwhile, and needs no right of the owner. Steps run on another thread.
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
    // Nobody else knows the copy, so that it needs no locks. With some, another lkm that opens the database would take
    // this process for one that owns it.
    const unlocked = pathToFileURL(copy);
    unlocked.searchParams.set('nolock', '1');
    const progress = () => signal?.throwIfAborted();
    await backup(source, unlocked.href, { rate: PAGES_PER_STEP, progress });
  } catch (error) {
    signal?.throwIfAborted();
    throw explain(error, path);
  }
  if (hadLog) return;
  // A connection that only reads leaves files behind where nobody writes; one that may write takes them away. Where a
  // server has the file, or this user may not write, they stay, and do no harm.
  const file = await openSqliteFile(path, { create: false }).catch(() => null);
  await file?.close();
}

/** In one transaction that sees one snapshot. */
const copySnapshot = (location: string, copy: string, signal: AbortSignal | undefined): Promise<void> =>
  withDatabase(location, undefined, async (source) => {
    await ensureSchema(source, { location, create: false });
    await withDatabase(copy, undefined, async (target) => {
      await migrate(target);
      await source.transaction(async (snapshot) => {
        await snapshot.run(raw('set transaction isolation level repeatable read, read only'));
        await copyDatabase({ ...source, connection: snapshot }, target, () => {}, signal);
      });
    });
  });
