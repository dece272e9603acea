import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Io } from '../io.ts';

type Machine = Pick<Io, 'host' | 'pid' | 'processStartTime'>;

/** Between two looks at a lock that another process holds. */
const POLL_MS = 5;
/** A holder on another machine cannot be looked up: its lock is stale once it has not changed for so many looks. */
const STALE_POLLS = 200;
const MAX_POLLS = 600;

const FREE = 'free';

/**
 * Runs `work` while no other process holds the lock of `folder`. All of it is synchronous, so nothing else of this
 * process runs meanwhile. `id` is new with each call. Throws an error with the code `ELOCKED` when another process
 * holds the lock for seconds.
 *
 * The lock is a folder with one file in it, whose name says who holds it. Taking it renames that file, which succeeds
 * for one process only, also when the holder has died: each holder has a name that is never used again.
 */
export function withLock<T>(folder: string, id: string, io: Machine, work: () => T): T {
  const lock = join(folder, 'lock');
  const own = [encodeURIComponent(io.host), io.pid, io.processStartTime(io.pid) ?? '', id].join('~');
  acquire(lock, own, io);
  try {
    return work();
  } finally {
    release(lock, own);
  }
}

function acquire(lock: string, own: string, io: Machine): void {
  let last = '';
  let unchanged = 0;
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    const holder = readHolder(lock);
    unchanged = holder === last ? unchanged + 1 : 0;
    last = holder ?? '';
    if (holder === undefined) createLock(lock, own);
    else if ((holder === FREE || isStale(holder, unchanged, io)) && renamed(join(lock, holder), join(lock, own)))
      return;
    // No wait at first: the lock may have to be created, or another process may just have taken it.
    if (polls > 2) sleep(POLL_MS);
  }
  throw Object.assign(new Error(`${lock} is held by ${last}`), { code: 'ELOCKED' });
}

function release(lock: string, own: string): void {
  // A lock that was removed meanwhile is made anew by the next holder.
  renamed(join(lock, own), join(lock, FREE));
}

function readHolder(lock: string): string | undefined {
  try {
    return readdirSync(lock)[0];
  } catch {
    return undefined;
  }
}

/** Makes the lock with its file in it, in one step; fails when another process was faster, which is as good. */
function createLock(lock: string, own: string): void {
  const made = `${lock}.${own}`;
  mkdirSync(made, { mode: 0o700 });
  writeFileSync(join(made, FREE), '', { mode: 0o600 });
  if (!renamed(made, lock)) rmSync(made, { recursive: true, force: true });
}

/** Whether the process that holds the lock has ended. This process never waits for itself: its pid was used before. */
function isStale(holder: string, unchanged: number, io: Machine): boolean {
  const [host = '', pid = '', startTime = ''] = holder.split('~');
  if (host !== encodeURIComponent(io.host)) return unchanged >= STALE_POLLS;
  return Number(pid) === io.pid || io.processStartTime(Number(pid)) !== startTime;
}

function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

const sleep = (milliseconds: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
};
