import { hash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { toInstant } from '../../domain/time.ts';
import {
  checkPrivateFolder,
  findStateDir,
  readPrivateJson,
  stateDir,
  syncFolder,
  writeAtomically,
} from '../config/files.ts';
import type { Settings } from '../config/settings.ts';
import { LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { moment } from '../output/words.ts';
import { isRepeatable } from '../state/pending.ts';
import { explainUnwritable } from '../state/pending-files.ts';
import type { BulkOperation } from './operation.ts';

/** The same command, file, options and product are the same run, on any machine and at any time. */
export interface Run {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** SHA-256 of all that identifies it. */
  readonly digest: string;
}

export function runOf(...identity: readonly unknown[]): Run {
  const digest = hashOf(identity);
  return { id: digest.slice(0, 16), digest };
}

/** The reference of a key without one in the file: the service gives one key for it, for ever. */
export const rowReference = ({ id }: Run, row: number): string => `run-${id}-${row}`;

/**
 * The idempotency key of a row. It opens the stored response, so only the file reveals it. A changed body, for example with
 * an expiry counted from today, is another request, and so is each `attempt` after a refusal.
 */
export const rowKey = ({ id, digest }: Run, row: number, body: unknown, attempt: number): string =>
  `run-${id}-${row}-${hashOf([digest, row, body, attempt]).slice(0, 16)}`;

/** The idempotency key for creating an object that rows refer to. */
export const preparationKey = ({ id, digest }: Run, made: readonly string[]): string =>
  `run-${id}-${hashOf([digest, ...made]).slice(0, 16)}`;

const hashOf = (value: unknown): string => hash('sha256', JSON.stringify(value));

/** The state of a run on this machine: `runs/<id>.json` in the state folder. */
const Marker = z.object({
  startedAt: z.string(),
  /** The number of uses of `--restart`. */
  restarts: z.int(),
  /** Whether all rows are done and their results delivered. */
  isEnded: z.boolean(),
  /** The SHA-256 of each written file, by path. */
  outputs: z.record(z.string(), z.string()),
});
type Marker = z.output<typeof Marker>;

const DAMAGED = ['Nothing was sent. This file says how far the run has come: see what was done, then remove the file.'];

const KEPT_MS = 30 * 86_400_000;

export type RunMarker = ReturnType<typeof openMarker>;

/**
 * Opens the marker of a run. The service repeats responses for a day: an older run is refused with `UsageError`, unless
 * `restart` is set. A run that repeats safely is never refused and needs no marker.
 */
export function openMarker(run: Run, { done, repeatsSafely = false }: BulkOperation, restart: boolean, io: Io) {
  const state = repeatsSafely ? findStateDir(io) : stateDir(io);
  const folder = state === null ? null : join(state, 'runs');
  const path = folder === null ? null : join(folder, `${run.id}.json`);
  const known = path === null || !existsSync(path) ? null : readPrivateJson(path, Marker, DAMAGED, io);
  const isTooLate = known !== null && !repeatsSafely && !isRepeatable(known.startedAt, io.now());
  if (isTooLate && !restart) throw tooLate(known, done);
  const restarts = (known?.restarts ?? 0) + (isTooLate ? 1 : 0);
  let marker: Marker = {
    startedAt: known === null || isTooLate ? toInstant(io.now()) : known.startedAt,
    restarts,
    isEnded: false,
    outputs: known?.outputs ?? {},
  };

  function write(changes: Partial<Marker>): void {
    marker = { ...marker, ...changes };
    if (folder === null || path === null) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    checkPrivateFolder(folder, io);
    writeAtomically(path, JSON.stringify(marker), 0o600, io);
    syncFolder(folder);
  }

  /** After sending: without the file a repeat is more careful, and no result is lost. */
  function tryToWrite(changes: Partial<Marker>): void {
    try {
      write(changes);
    } catch {
      // The disk is full, or the folder was removed.
    }
  }

  return {
    isKnown: known !== null,
    /** With the idempotency keys of its last restart. */
    run: restarts === 0 ? run : { ...run, digest: runOf(run.digest, restarts).digest },
    /** Called before a request is sent. Throws `LocalError` if a necessary marker cannot be written. */
    begin(): void {
      if (folder !== null) removeOld(folder, io.now());
      try {
        write({});
      } catch (error) {
        if (repeatsSafely) return;
        throw explainUnwritable(error, String(path), 'Nothing was sent. A run is written down before it is sent:');
      }
    },
    /** Called when all rows are done and the results are printed or written. */
    end: () => tryToWrite({ isEnded: true }),
    /** Stores the SHA-256 of the file of `-o`, which the run is about to write, so that a repeat recognises its own file. */
    keepOutput({ output }: Settings, digest: string): void {
      if (output !== null) tryToWrite({ outputs: { ...marker.outputs, [resolve(io.cwd, output)]: digest } });
    },
    /** Throws `LocalError` for an existing file of `-o`, unless this run wrote it and it is unchanged. */
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

/** Removes markers of runs that ended long ago, and keeps markers of unfinished runs. */
function removeOld(folder: string, now: number): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    try {
      const path = join(folder, name);
      const { isEnded, startedAt } = Marker.parse(JSON.parse(readFileSync(path, 'utf8')));
      if (isEnded && Date.parse(startedAt) < now - KEPT_MS) rmSync(path);
    } catch {
      // Removed by another command, or no marker.
    }
  }
}
