import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  checkPrivateFolder,
  findStateDir,
  readPrivateJson,
  stateDir,
  syncFolder,
  writeAtomically,
} from '../config/files.ts';
import { CommandError, codeOf, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { quote } from '../output/words.ts';
import { isLocked, type Lock, takeLock, withLock } from './lock.ts';

/** A change that has no acknowledged response yet. */
const Pending = z.object({
  origin: z.string(),
  method: z.string(),
  path: z.string(),
  body: z.string().nullable(),
  idempotencyKey: z.string(),
  createdAt: z.string(),
});
export type Pending = z.output<typeof Pending>;

/** `owner` is the name of the lock that the writing process holds while it runs. */
const PendingFile = z.object({ owner: z.string(), value: Pending });
export type PendingFile = z.output<typeof PendingFile> & { readonly name: string };

const FOLDER = 'pending';

export function hasPending(io: Io): boolean {
  const state = findStateDir(io);
  return state !== null && existsSync(join(state, FOLDER));
}

/** The files of pending changes, which commands leave for later commands of the same user. */
export function openPendingFiles(io: Io) {
  const path = join(stateDir(io), FOLDER);
  let own: { readonly name: string; readonly lock: Lock } | null = null;

  /** Runs `work` while no other process reads or writes the files. Throws `LocalError` if they cannot be written. */
  function exclusively<R>(work: () => R, meaning = NOTHING_SENT): R {
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      checkPrivateFolder(stateDir(io), io);
      checkPrivateFolder(path, io);
      return withLock(join(path, 'lock'), work);
    } catch (error) {
      throw explainUnwritable(error, path, meaning);
    }
  }

  /** Sorted by name. Throws `LocalError` for a damaged file. */
  const list = (): PendingFile[] =>
    readdirSync(path)
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => ({ name, ...read(join(path, name)) }));

  function read(file: string) {
    if (!lstatSync(file).isFile()) {
      throw new LocalError(`${file} is not a file of this user alone`, [
        'Nothing was sent. Look at what it is, and move it away.',
      ]);
    }
    const hints = [
      'Nothing was sent. A change without a response may be in it: see what it did before you repeat it.',
      ['Then move it away:', `mv ${quote(file)} ${quote(`${file}.damaged`)}`],
    ] as const;
    return readPrivateJson(file, PendingFile, hints, io);
  }

  /** Writes a file of this process durably. */
  function write(name: string, value: Pending): void {
    writeAtomically(join(path, name), JSON.stringify({ owner: owner(), value }), 0o600, io);
    syncFolder(path);
  }

  /** The name of this process, whose lock is held until the files are closed or the process ends. */
  function owner(): string {
    if (own !== null) return own.name;
    // Locks and temporary files of processes that were killed.
    for (const name of readdirSync(path)) {
      const isLeft = name.endsWith('.lock') ? !isLocked(join(path, name)) : name.endsWith('.tmp');
      if (isLeft) rmSync(join(path, name), { force: true });
    }
    const name = io.uuid();
    const lock = takeLock(join(path, `${name}.lock`));
    if (lock === null) throw new Error(`${name} is the name of another process`);
    own = { name, lock };
    return name;
  }

  /** Removes the lock of this process while no other process can take it. */
  function close(): void {
    const held = own;
    if (held === null) return;
    try {
      exclusively(() => {
        held.lock.release();
        rmSync(join(path, `${held.name}.lock`), { force: true });
      });
    } catch {
      // The next command removes the lock.
    }
  }

  return {
    path,
    exclusively,
    list,
    write,
    remove: (name: string): void => rmSync(join(path, name), { force: true }),
    /** Whether another, running process owns a file. */
    isRunning: ({ owner }: Pick<PendingFile, 'owner'>): boolean =>
      owner !== own?.name && /^[\w-]+$/.test(owner) && isLocked(join(path, `${owner}.lock`)),
    isOwn: ({ owner }: Pick<PendingFile, 'owner'>): boolean => owner === own?.name,
    close,
  };
}

/** Explains an error of the system while writing to the state folder; returns errors of the command unchanged. */
export function explainUnwritable(error: unknown, path: string, meaning: string): unknown {
  if (error instanceof CommandError) return error;
  const way = ways.get(String(codeOf(error))) ?? 'set LKM_STATE_DIR to a folder that can be written to';
  return new LocalError(`cannot write to ${path} (${codeOf(error)})`, [`${meaning} ${way}.`], { cause: error });
}

const NOTHING_SENT = 'Nothing was sent. A change is written down before it is sent:';

const ways = new Map([
  ['ENOSPC', 'make room there'],
  ['EDQUOT', 'make room there'],
  ['ELOCKED', 'wait until the command that writes to it has ended'],
]);
