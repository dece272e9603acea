import { hash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Settings } from '../config/settings.ts';
import { LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { keepOutput, type StoredRun } from '../state/runs.ts';
import type { State } from '../state/state.ts';

/**
 * Makes sure that the results may go to the file that `-o` names: one that is not there, or that is as this run has
 * written it. Called before anything is sent. Throws `LocalError`.
 *
 * @param digestsOf what the run has written to a file
 */
export function refuseTaken(
  digestsOf: (path: string) => readonly string[],
  { output, force }: Settings,
  { cwd }: Io,
): void {
  if (output === null || force) return;
  const path = resolve(cwd, output);
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return;
  const own = digestsOf(path);
  if (own.length > 0 && own.includes(hash('sha256', readFileSync(path)))) return;
  const what = own.length === 0 ? 'exists' : 'was changed after this run wrote it';
  throw new LocalError(`${output} ${what}`, ['Nothing was sent. Name another file, or overwrite it with --force.']);
}

/** Writes down what goes into the file, before it does: a run that is killed in between finds its own file. */
export async function noteOutput(
  state: State,
  stored: StoredRun,
  text: string,
  { output }: Settings,
  { cwd }: Io,
): Promise<void> {
  if (output !== null) keepOutput(state, stored, resolve(cwd, output), hash('sha256', text));
}
