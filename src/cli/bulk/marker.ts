import { hash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { toInstant } from '../../domain/time.ts';
import { checkPrivateFolder, findStateDir, readPrivateFile, stateDir, writeAtomically } from '../config/files.ts';
import type { Settings } from '../config/settings.ts';
import { codeOf, LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { moment } from '../output/words.ts';
import { isRepeatable } from '../state/pending.ts';
import type { BulkOperation } from './operation.ts';
import type { Run } from './run.ts';

/** What this machine remembers of a run: `runs/<id>.json` in the folder of what is under way. */
const Marker = z.object({
  startedAt: z.string(),
  /** Whether each row was done, and its reader has the results. */
  isEnded: z.boolean(),
  /** By path, the SHA-256 of what the run has written there. */
  outputs: z.record(z.string(), z.string()),
});
type Marker = z.output<typeof Marker>;

/** How long the marker of a run that has ended is kept, which tells its own file of `-o` from another one. */
const KEPT_MS = 30 * 86_400_000;

/**
 * Opens the marker of a run. Throws `UsageError` for one that rests on the idempotency records of the service and was begun too long
 * ago for them, unless it is to be restarted.
 */
export function openMarker(run: Run, operation: BulkOperation, restart: boolean, io: Io) {
  const { done, isRepeatable: isSafe = false } = operation;
  const state = isSafe ? findStateDir(io) : stateDir(io);
  const folder = state === null ? null : join(state, 'runs');
  const path = folder === null ? null : join(folder, `${run.id}.json`);
  const known = path === null ? null : read(path, io);
  const isFresh = known === null || restart;
  if (!isFresh && !isSafe && !isRepeatable(known.startedAt, io.now())) throw tooLate(known, done);
  let marker: Marker = {
    startedAt: isFresh ? toInstant(io.now()) : known.startedAt,
    isEnded: false,
    outputs: known?.outputs ?? {},
  };

  function write(changes: Partial<Marker>): void {
    marker = { ...marker, ...changes };
    if (folder === null || path === null) return;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      checkPrivateFolder(folder, io);
      writeAtomically(path, JSON.stringify(marker), 0o600, io);
    } catch (error) {
      // What is issued under a reference is issued once wherever it is sent from.
      if (isSafe) return;
      if (error instanceof LocalError) throw error;
      const hints = [
        'Nothing was sent. A run is written down before it is sent; set LKM_STATE_DIR to a folder that can be written to.',
      ];
      throw new LocalError(`cannot write to ${path} (${codeOf(error)})`, hints, { cause: error });
    }
  }

  return {
    isKnown: known !== null,
    /** To be called before anything is sent. */
    begin(): void {
      if (folder !== null) removeOld(folder, io.now());
      write({});
    },
    /** To be called when the reader has the results of a run of which each row was done. */
    end: () => write({ isEnded: true }),
    /** Notes what is about to be written to the file of `-o`, so that a repeat knows its own file. */
    keepOutput: (output: string, text: string) =>
      write({ outputs: { ...marker.outputs, [resolve(io.cwd, output)]: hash('sha256', text) } }),
    /** Throws `LocalError` for a file of `-o` that is there, unless it is as this run has written it. */
    refuseTakenOutput({ output, force }: Settings): void {
      if (output === null || force) return;
      const target = resolve(io.cwd, output);
      if (!lstatSync(target, { throwIfNoEntry: false })?.isFile()) return;
      const own = marker.outputs[target];
      if (own === hash('sha256', readFileSync(target))) return;
      const what = own === undefined ? 'exists' : 'was changed after this run wrote it';
      throw new LocalError(`${output} ${what}`, ['Nothing was sent. Name another file, or overwrite it with --force.']);
    },
  };
}

const tooLate = ({ isEnded, startedAt }: Marker, done: string): UsageError =>
  isEnded
    ? new UsageError(`this run was done on ${moment(startedAt)}`, [
        'Nothing was sent. The service no longer repeats its answers, and would do all of it a second time.',
        ['To do it once more:', 'add --run NAME'],
      ])
    : new UsageError(`this run was begun on ${moment(startedAt)} and did not end`, [
        `Nothing was sent. The service no longer repeats its answers: rows that were ${done} would be so a second time.`,
        'See what was done, and send the rest as a file of its own.',
        ['Or do all of it, once more:', 'add --restart'],
      ]);

/** What is known of a run; null for nothing. Throws `LocalError` for a marker that cannot be read: it may be of an unfinished run. */
function read(path: string, io: Io): Marker | null {
  if (!existsSync(path)) return null;
  try {
    return Marker.parse(JSON.parse(readPrivateFile(path, io)));
  } catch (error) {
    if (error instanceof LocalError) throw error;
    const hints = [`Nothing was sent. It says what is known of this run; look, and remove it.`];
    throw new LocalError(`${path} is damaged`, hints, { cause: error });
  }
}

/** Removes markers of runs that ended long ago; those of unfinished runs stay. */
function removeOld(folder: string, now: number): void {
  try {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const { isEnded, startedAt } = Marker.parse(JSON.parse(readFileSync(path, 'utf8')));
      if (isEnded && Date.parse(startedAt) < now - KEPT_MS) rmSync(path);
    }
  } catch {
    // The next run removes them.
  }
}
