import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import type { Instant } from '../../contract/scalars.ts';
import { StartupError } from '../errors.ts';

/** The manifest of a backup, a file beside it. */
export interface Manifest {
  readonly format: typeof FORMAT;
  readonly takenAt: Instant;
  readonly bytes: number;
  /** SHA-256 of the whole backup, in hexadecimal digits. */
  readonly sha256: string;
}

const FORMAT = 'lkm-backup/1';

/** Where the manifest of a backup is. */
export const manifestOf = (backup: string): string => `${backup}.json`;

/** Describes a finished backup. */
export const describeBackup = async (file: string, takenAt: Instant): Promise<Manifest> => ({
  format: FORMAT,
  takenAt,
  bytes: statSync(file).size,
  sha256: await sha256Of(file),
});

/**
 * Compares the copy of a backup with the manifest beside the backup, and returns it; null for a backup without a manifest.
 *
 * @throws StartupError when they differ, or the file beside the backup is no manifest
 */
export async function checkManifest(backup: string, copy: string): Promise<Manifest | null> {
  const path = manifestOf(backup);
  if (!existsSync(path)) return null;
  const manifest = readManifest(path);
  if (manifest === null) {
    throw new StartupError(`${path} is not the manifest of a backup`, 'move it away, or take another backup');
  }
  if (manifest.sha256 === (await sha256Of(copy))) return manifest;
  throw new StartupError(`${backup} is damaged: it differs from its manifest`, 'take another backup');
}

function readManifest(path: string): Manifest | null {
  try {
    const manifest: Partial<Manifest> = JSON.parse(readFileSync(path, 'utf8'));
    return manifest.format === FORMAT ? (manifest as Manifest) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}
