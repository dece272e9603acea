import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Io } from '../io.ts';

// Not by way of node:fs/promises: loading it takes longer than the writing.

/** Writes a file so that a reader sees all of it or nothing: aside, on the disk, then in its place. */
export function writeAtomically(path: string, text: string, mode: number, io: Io): void {
  const full = resolve(io.cwd, path);
  const aside = `${full}.${io.uuid()}.tmp`;
  try {
    const file = openSync(aside, 'wx', mode);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(aside, full);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

/** Puts the names in a folder on the disk: a file that was renamed is found there after a power failure. */
export function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Windows keeps its names itself and opens no folder.
  }
}
