import { statfsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

const PAGE_BYTES = 4_096;

/**
 * The log is copied into the file every 64 MiB, not every 4: keys are random, so that in a large database each has a page of
 * its own to be copied, and the sync of all of them is what costs (sqlite.org/pragma.html).
 */
const MOST_PAGES = 16_000;

/** SQLite's own limit. */
const FEWEST_PAGES = 1_000;

/** The part of the free space that the log may take: what it holds needs room in the file as well. */
const SHARE = 1 / 8;

/** Commits between two looks at the disk. */
const LOOK_EVERY = 500;

/** How many pages the log may have until it is copied into the file, by the free space on its disk in bytes. */
export const logPages = (freeBytes: number): number =>
  Math.max(FEWEST_PAGES, Math.min(MOST_PAGES, Math.floor((freeBytes * SHARE) / PAGE_BYTES)));

/** Where a system does not say it, there is room. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.MAX_SAFE_INTEGER;
  }
}

/** Keeps the log of a database from filling its disk. The function that it returns is to be called in each commit. */
export function limitLog(writer: DatabaseSync, folder: string): () => void {
  let commits = 0;
  let set = 0;
  const look = (): void => {
    const pages = logPages(freeBytes(folder));
    if (pages !== set) writer.exec(`PRAGMA wal_autocheckpoint=${pages}`);
    set = pages;
  };
  look();
  return () => {
    commits += 1;
    if (commits % LOOK_EVERY === 0) look();
  };
}
