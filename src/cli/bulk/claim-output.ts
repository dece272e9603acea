import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { LocalError } from '../failure/errors.ts';
import type { OpenJob } from './job-store.ts';

/**
 * Makes sure that the results may go to the file that `-o` names: one that is not there, or that this run has made
 * before. Written down before the file is made, so that a run that is killed in between finds its own file. Throws
 * `LocalError`.
 */
export function claimOutput({ lines, journal }: OpenJob, output: string | null, cwd: string, force: boolean): void {
  if (output === null) return;
  const path = resolve(cwd, output);
  const isOwn = lines.some((line) => line.type === 'output' && line.path === path);
  if (!isOwn) refuseTaken(output, cwd, force);
  if (!isOwn) journal.add({ type: 'output', path });
  journal.write();
}

/** Throws `LocalError` for a file that is there; before a new run is written down, which would stay behind. */
export function refuseTaken(output: string | null, cwd: string, force: boolean): void {
  if (output === null || force) return;
  if (!lstatSync(resolve(cwd, output), { throwIfNoEntry: false })?.isFile()) return;
  throw new LocalError(`${output} exists`, ['Nothing was sent. Name another file, or overwrite it with --force.']);
}
