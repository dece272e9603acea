import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { checkPrivateFolder, findStateDir, stateDir } from '../config/files.ts';
import { CommandError, codeOf, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { quote } from '../output/words.ts';
import { isLocked, type Lock, makeOwnFile, SQLITE_BUSY, sqliteCode, takeLock, withLock } from './lock.ts';

/** What commands remember of their changes until they are done: the file `state.db` of this user. */
export type State = ReturnType<typeof stateOf>;

const STATE_FILE = 'state.db';

export function hasState(io: Io): boolean {
  const folder = findStateDir(io);
  return folder !== null && existsSync(join(folder, STATE_FILE));
}

/** Opens the state of this user, which is made with its first use. Throws `LocalError` when it cannot be written. */
export function openState(io: Io): State {
  const folder = stateDir(io);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    checkPrivateFolder(folder, io);
    return open(folder, io);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw stateError(error, folder, 'Nothing was sent. A change is written down before it is sent:');
  }
}

const BUSY_TIMEOUT_MS = 15_000;

function open(folder: string, io: Io): State {
  const path = join(folder, STATE_FILE);
  makeOwnFile(path);
  const stats = lstatSync(path);
  const isOwn = stats.isFile() && stats.nlink === 1 && (io.uid === null || stats.uid === io.uid);
  if (!isOwn) {
    throw new LocalError(`${path} is not a file of this user alone`, [
      'Nothing was sent. Look at what it is, and move it away.',
    ]);
  }
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    const mode = isOnNetwork(folder) ? 'TRUNCATE' : 'WAL';
    const setUp = () => database.exec(`PRAGMA journal_mode=${mode}; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON`);
    // The first processes of a new file one after the other: it cannot change its mode while others look at it.
    if (stats.size > 0) setUp();
    else withLock(`${path}-lock`, setUp);
    const state = stateOf(database, folder, io);
    makeTables(database, state, path);
    return state;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** File systems of which several machines may have the same file open, as statfs(2) calls them: NFS, SMB, 9P. */
const NETWORK_TYPES = [0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997];

/** Whether the memory that WAL shares between processes may not reach all of them. */
const isOnNetwork = (folder: string): boolean => NETWORK_TYPES.includes(statfsSync(folder).type);

/** The version of the tables of `state.db`. */
const STATE_VERSION = 1;

const STATE_TABLES = `
CREATE TABLE change (
  id INTEGER PRIMARY KEY,
  writer TEXT NOT NULL,
  request TEXT NOT NULL,
  origin TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  body TEXT,
  idempotency_key TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX change_request ON change (request, id);

CREATE TABLE server (
  writer TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  db TEXT NOT NULL,
  ca TEXT,
  host TEXT NOT NULL,
  started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

function makeTables(database: DatabaseSync, state: State, path: string): void {
  const version = () => state.all<{ user_version: number }>('PRAGMA user_version')[0]?.user_version ?? 0;
  if (version() === 0) {
    state.transaction(() => {
      if (version() === 0) database.exec(`${STATE_TABLES} PRAGMA user_version = ${STATE_VERSION}`);
    });
  }
  if (version() > STATE_VERSION) {
    throw new LocalError(`${path} was written by a newer lkm`, [
      'Nothing was sent. Update lkm; the file is as it was.',
    ]);
  }
}

function stateOf(database: DatabaseSync, folder: string, io: Io) {
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const locks = join(folder, 'locks');
  let own: { readonly name: string; readonly lock: Lock } | null = null;

  function prepared(sql: string) {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  }

  function guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof CommandError || sqliteCode(error) === null) throw error;
      throw stateError(error, folder, 'What was answered is not lost; before the same command goes on,');
    }
  }

  /** The rows of a statement, which is prepared once. Their type is the caller's word: the tables are STRICT. */
  const all = <R extends object>(sql: string, ...values: readonly SQLInputValue[]): readonly R[] =>
    guarded(() => prepared(sql).all(...values) as R[]);

  /** Runs a statement; returns the number of the row that it has inserted. */
  const run = (sql: string, ...values: readonly SQLInputValue[]): number =>
    guarded(() => Number(prepared(sql).run(...values).lastInsertRowid));

  /** All or nothing of it is on the disk when it returns. Throws `LocalError` when it cannot be written. */
  function transaction<T>(work: () => T): T {
    return guarded(() => {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  /** The name of this process, whose lock it holds until it closes the state or ends. Only in a transaction. */
  function writer(): string {
    if (own !== null) return own.name;
    mkdirSync(locks, { recursive: true, mode: 0o700 });
    // Removes the locks of processes that were killed.
    for (const name of readdirSync(locks)) if (!isLocked(join(locks, name))) rmSync(join(locks, name), { force: true });
    const name = io.uuid();
    const lock = takeLock(join(locks, name));
    if (lock === null) throw new Error(`${name} is the name of another process`);
    own = { name, lock };
    return name;
  }

  /** Whether the process of a name still runs; never for this one. Only in a transaction. */
  const isRunning = (name: string): boolean =>
    name !== own?.name && /^[\w-]+$/.test(name) && isLocked(join(locks, name));

  /** A lock is made and removed in a transaction only: nobody takes one that is about to go. */
  function close(): void {
    const held = own;
    try {
      if (held !== null) {
        transaction(() => {
          held.lock.release();
          rmSync(join(locks, held.name), { force: true });
        });
      }
    } catch {
      // The next command removes it.
    }
    database.close();
  }

  return { all, run, transaction, writer, isRunning, close };
}

const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

function stateError(error: unknown, folder: string, meaning: string): LocalError {
  const code = sqliteCode(error);
  const path = join(folder, STATE_FILE);
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) {
    return new LocalError(
      `${path} is damaged`,
      [
        'Nothing was sent. Without it nobody knows which changes had no answer: look what they have done before you repeat them.',
        ['Then move it away:', `mv ${quote(path)} ${quote(`${path}.damaged`)}`],
      ],
      { cause: error },
    );
  }
  const why = code === null ? codeOf(error) : error instanceof Error ? error.message : String(error);
  const way = ways.get(code ?? 0) ?? 'set LKM_STATE_DIR to a folder that can be written to';
  return new LocalError(`cannot write to ${path} (${why})`, [`${meaning} ${way}.`], { cause: error });
}

const ways = new Map([
  [SQLITE_FULL, 'make room there'],
  [SQLITE_BUSY, 'wait until the command that writes to it has ended'],
]);
