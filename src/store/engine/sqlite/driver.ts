import { lstatSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { StartupError } from '../../errors.ts';
import { ensureSchema, MIGRATIONS_TABLE, migrate } from '../../migrate.ts';
import type { AtCommit, Database, Driver, OpenForReading, OpenOptions } from '../driver.ts';
import { sql } from '../sql.ts';
import { connect, createUndo } from './connection.ts';
import {
  BUSY_TIMEOUT_MS,
  checkDisk,
  explain,
  explainKnown,
  fileHint,
  isBusy,
  isForeign,
  type LocatedFile,
  locateFile,
  maxLogPages,
  rememberFiles,
} from './file.ts';
import { groupCommit } from './group-commit.ts';
import { findOwner, isHeldOnlyByOtherTools, monotonicMs, openAlone } from './lock.ts';
import { watchLog } from './log-length.ts';
import { prepareReader } from './reader.ts';

/**
 * Opens a SQLite file, new or known, for this process alone. A new file gets its schema.
 *
 * New files are readable by their owner only. Commits are durable (`synchronous=FULL`).
 *
 * @throws StartupError when the file is in use, is not a database of lkm, or has a schema of another version
 */
export async function openSqlite(location: string, options: OpenOptions = {}): Promise<Driver> {
  const file = await openSqliteFile(location, options);
  const { path, writer } = file;
  try {
    if ((await ensureSchema(file, { ...options, location: path })) === 'to migrate') await migrate(file);
    const reader = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    const undo = createUndo(writer);
    const writing = connect(writer, { undo });
    const { beginStatement, releaseSnapshot } = prepareReader(reader);
    const log = watchLog(writer, reader);
    let atCommit: AtCommit = async () => {};
    const finishCommit = async () => {
      await atCommit(writing, undo.staged());
      file.check();
      releaseSnapshot();
      log.look();
    };
    const commit = groupCommit(writer, undo, finishCommit, monotonicMs);
    return {
      warnings: file.warnings,
      reader: connect(reader, { before: beginStatement }),
      isOnlyWriter: true,
      file: { path, check: file.check, isLogTooLong: log.isTooLong, copyLogBy: log.copyBy },
      transaction: (work) => commit.transaction(() => work(writing)),
      atCommit: (work) => {
        atCommit = work;
        undo.collect();
      },
      settled: commit.settled,
      async check() {
        file.check();
        checkDisk(path);
      },
      explain: file.explain,
      publishUrl: file.publishUrl,
      close: async () => {
        await commit.finish();
        reader.close();
        await file.close();
      },
    };
  } catch (error) {
    await file.close();
    throw explain(error, path);
  }
}

/** A SQLite file that belongs to this process until it is closed. */
interface SqliteFile extends Database, Pick<Driver, 'warnings' | 'publishUrl'> {
  /** Absolute, without symbolic links. */
  readonly path: string;
  readonly writer: DatabaseSync;
  /** Throws StorageError when the file was removed or replaced at its path. */
  check(): void;
}

/**
 * Opens a SQLite file, new or known, for this process alone; its schema may be of any age.
 *
 * @throws StartupError when the file is in use, or is not a database of lkm
 */
export async function openSqliteFile(
  location: string,
  { waitMs = 0, create = true }: OpenOptions = {},
): Promise<SqliteFile> {
  const file = locateFile(location, create);
  const { path } = file;
  if (file.isEmpty && !create) throw new StartupError(`${path} is empty, not a database`, fileHint);
  if (!file.isEmpty) refuseForeign(path);
  const { database: writer, lock } = await openAlone(file, waitMs, () => openWriter(file));
  const close = async () => {
    writer[Symbol.dispose]();
    lock.release();
  };
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    writer.exec(`${SETTINGS} PRAGMA wal_autocheckpoint=${maxLogPages(bavail * bsize)}`);
    const database = viewOf(file, writer);
    return {
      ...database,
      async transaction(work) {
        writer.exec('BEGIN IMMEDIATE');
        try {
          const value = await work(database.connection);
          writer.exec('COMMIT');
          return value;
        } finally {
          if (writer.isTransaction) writer.exec('ROLLBACK');
        }
      },
      // The file belongs to this process.
      alone: (work) => work(),
      path,
      writer,
      publishUrl: lock.publishUrl,
      check: rememberFiles(file),
      close,
    };
  } catch (error) {
    await close();
    throw explain(error, path);
  }
}

/**
 * Opens a SQLite file to look at it, also while another process owns it. Null for a missing or empty file.
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
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    // Without a writer and without changes in a log, the file is complete by itself, and no file is made beside it.
    const isWhole = owner === null && (log?.size ?? 0) === 0;
    const url = isWhole ? immutable(path) : pathToFileURL(path);
    const database = new DatabaseSync(url, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    return { ...viewOf(file, database), owner, close: async () => database.close() };
  } catch (error) {
    throw explain(error, path);
  }
}

function viewOf({ path, mode }: LocatedFile, database: DatabaseSync) {
  const connection = connect(database);
  const isOpenToOthers = (mode & 0o077) !== 0;
  return {
    engine: 'SQLite' as const,
    connection,
    async tables() {
      const names = sql`select name from sqlite_master where type = 'table'`;
      return new Set(await connection.all(names, (row: { name: string }) => row.name));
    },
    warnings: isOpenToOthers
      ? [`${path} holds private keys, and others than its owner may open it (mode ${mode.toString(8)})`]
      : [],
    check: async () => checkDisk(path),
    explain: (error: unknown) => explainKnown(error, path),
  };
}

/** Where SQLite reads a file without a lock, and makes nothing beside it. */
function immutable(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return url;
}

/** Looks into a file without a lock, and changes nothing in it or beside it. */
function refuseForeign(path: string): void {
  using database = new DatabaseSync(immutable(path), { readOnly: true });
  try {
    refuseOtherSchemas(database, path);
  } catch (error) {
    if (error instanceof StartupError || isForeign(error)) throw explain(error, path);
    // Read while its owner writes: whether the file is whole shows under the lock.
  }
}

/** Refuses a database with tables of another program. */
export function refuseOtherSchemas(database: DatabaseSync, path: string): void {
  const tables = database.prepare('select name from sqlite_master').all();
  if (tables.length > 0 && !tables.some(({ name }) => name === MIGRATIONS_TABLE)) {
    throw new StartupError(`${path} is a database of another program`, fileHint);
  }
}

/** Opens the connection that writes. Throws `SQLITE_BUSY` while another lkm, or an unknown program, has the file open. */
function openWriter(file: LocatedFile): DatabaseSync {
  const { path } = file;
  const database = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: true });
  try {
    refuseOtherSchemas(database, path);
    const log = database.prepare('PRAGMA journal_mode=WAL').get();
    if (log?.journal_mode !== 'wal')
      throw new StartupError(`${path} cannot have a log beside it`, 'put it on a local disk');
    // The first read opens the log for several connections; only then is the lock asked for. A transaction in exclusive mode
    // takes the lock alone; a transaction in normal mode gives back all but a shared lock, which lasts as long as the
    // connection.
    database.exec('SELECT 1 FROM sqlite_master');
    try {
      database.exec('PRAGMA locking_mode=EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
    } catch (error) {
      if (!isBusy(error) || !isHeldOnlyByOtherTools(file)) throw error;
    }
    database.exec('PRAGMA locking_mode=NORMAL; BEGIN IMMEDIATE; COMMIT');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Durable commits. Undo pages of savepoints stay in memory, not in temporary files. Deleted data is overwritten: otherwise
 * keys, tokens and addresses of customers would stay readable in the free pages of the file.
 */
const SETTINGS = `
  PRAGMA busy_timeout=${BUSY_TIMEOUT_MS}; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;
  PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384;`;
