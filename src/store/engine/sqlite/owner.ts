import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** The process that uses a database file, as it describes itself to others. */
export interface Owner {
  readonly pid?: number;
  /** Where it serves the database. */
  readonly url?: string;
}

const MAX_BYTES = 4_096;

/** Writes who owns the database, into a new file that replaces whatever stands there; links are not followed. */
export function writeOwner(path: string, owner: Owner, mode: number): void {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW = 0 } = constants;
  rmSync(path, { force: true });
  const file = openSync(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, mode);
  try {
    writeFileSync(file, JSON.stringify(owner));
  } finally {
    closeSync(file);
  }
}

/** Reads who owns the database. It only informs: what cannot be read, or says something else, is nothing. */
export function readOwner(path: string): Owner {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const found = fstatSync(file);
      if (!found.isFile() || found.size > MAX_BYTES) return {};
      return toOwner(JSON.parse(readFileSync(file, 'utf8')));
    } finally {
      closeSync(file);
    }
  } catch {
    return {}; // written a moment after the lock is taken
  }
}

function toOwner(value: unknown): Owner {
  if (typeof value !== 'object' || value === null) return {};
  const { pid, url } = value as Record<string, unknown>;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return {};
  return typeof url === 'string' && /^https?:\/\/[\x21-\x7e]+$/.test(url) ? { pid, url } : { pid };
}
