import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { LocalError } from '../errors.ts';
import type { Io } from '../io.ts';

/** Refuses a file that could not be written afterwards, before anything is sent. */
export function checkDestination(path: string, force: boolean, io: Pick<Io, 'cwd'>): void {
  const full = resolve(io.cwd, path);
  if (!existsSync(dirname(full))) throw new LocalError(`the folder of ${path} does not exist`);
  if (existsSync(full) && !force) {
    throw new LocalError(`${path} exists`, ['Nothing was sent. Name another file, or overwrite it with --force.']);
  }
}

/** Writes a file so that a reader sees all of it or nothing: aside, on the disk, then in its place. */
export async function writeAtomically(path: string, text: string, mode: number, io: Io): Promise<void> {
  const full = resolve(io.cwd, path);
  const aside = `${full}.${io.uuid()}.tmp`;
  try {
    const file = await open(aside, 'wx', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, full);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}
