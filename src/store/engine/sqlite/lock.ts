import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartupError } from '../../startup-error.ts';

/** The right to use a database file, held by one process at a time. */
export interface FileLock {
  /** Tells others where the owner can be reached. */
  announce(url: string): void;
  release(): void;
}

const RETRY_MS = 25;

/**
 * Takes the lock of a database file, waiting up to `waitMs` for an owner that is not a server.
 *
 * The lock is an exclusive transaction on a small file beside the database: the system releases it when the process
 * dies, however it dies.
 *
 * @throws StartupError when another process keeps the file.
 */
export async function lockFile(path: string, waitMs: number): Promise<FileLock> {
  const ownerPath = `${path}-owner`;
  const deadline = performance.now() + waitMs;
  for (;;) {
    const held = tryLock(`${path}-lock`);
    if (held !== null) {
      writeFileSync(ownerPath, JSON.stringify({ pid: process.pid }), { mode: 0o600 });
      return {
        announce: (url) => writeFileSync(ownerPath, JSON.stringify({ pid: process.pid, url }), { mode: 0o600 }),
        release: () => {
          rmSync(ownerPath, { force: true });
          held.close();
        },
      };
    }
    const owner = readOwner(ownerPath);
    if (owner.url !== undefined || performance.now() > deadline) throw ownedBy(path, owner);
    await sleep(RETRY_MS);
  }
}

function tryLock(path: string): DatabaseSync | null {
  writeFileSync(path, '', { mode: 0o600, flag: 'a' });
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (/locked/.test(String(error))) return null;
    throw error;
  }
}

interface Owner {
  readonly pid?: number;
  readonly url?: string;
}

function readOwner(path: string): Owner {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch {
    return {}; // written a moment after the lock is taken
  }
}

function ownedBy(path: string, { pid, url }: Owner): StartupError {
  const process = pid === undefined ? 'another process' : `process ${pid}`;
  return url === undefined
    ? new StartupError(`${path} is in use by ${process}`, 'wait until it has finished')
    : new StartupError(
        `${path} is served by ${process} at ${url}`,
        `use that server (--base-url ${url}), or stop it first`,
      );
}
