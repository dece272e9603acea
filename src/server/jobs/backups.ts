import { accessSync, constants, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Instant } from '../../contract/scalars.ts';
import { fileStamp } from '../../domain/time.ts';
import { WORK_PREFIX } from '../../store/backup/files.ts';
import { manifestOf } from '../../store/backup/manifest.ts';
import { takeBackup } from '../../store/backup/take.ts';
import { StartupError } from '../../store/errors.ts';
import type { Job } from './job.ts';

export interface BackupSchedule {
  readonly everyMs: number;
  readonly keep: number;
  readonly folder: string;
}

const LOOK_EVERY_MS = 60_000;

/** The leftovers of an interrupted backup are removed at this age. */
const ABANDONED_MS = 24 * 60 * 60 * 1_000;

/** The name of a backup of this job: `lkm-2026-11-21T10-00-00Z.db`. Other files are neither counted nor removed. */
const nameShape = /^lkm-(\d{4}-\d{2}-\d{2}T)(\d{2})-(\d{2})-(\d{2})Z\.db$/;

const nameAt = (at: Instant): string => `lkm-${fileStamp(at)}Z.db`;

const takenAt = (name: string): number => Date.parse(name.replace(nameShape, '$1$2:$3:$4Z'));

/**
 * The job that backs the database up. A backup is due by the age of the newest backup in the folder, so that restarts of the
 * server make backups neither more nor less frequent.
 */
export function backupJob(location: string, schedule: BackupSchedule, { now }: { now(): Instant }): Job {
  const folder = resolve(schedule.folder);
  openFolder(folder);
  // A name with a future or impossible date comes from a wrong clock: such a backup neither counts nor is removed.
  const takenBy = (at: Instant) => listBackups(folder).filter((name) => takenAt(name) <= Date.parse(at));
  return {
    name: 'backups',
    everyMs: Math.min(schedule.everyMs, LOOK_EVERY_MS),
    async run({ log, signal }) {
      const at = now();
      const newest = takenBy(at).at(-1);
      if (newest !== undefined && Date.parse(at) - takenAt(newest) < schedule.everyMs) return false;
      removeAbandoned(folder, Date.parse(at));
      const file = join(folder, nameAt(at));
      try {
        const { bytes } = await takeBackup(location, file, { now: at, signal });
        log.info({ file, bytes }, 'backed up');
      } catch (error) {
        if (signal.aborted) return true;
        throw error;
      }
      for (const name of takenBy(at).slice(0, -schedule.keep)) {
        const old = join(folder, name);
        rmSync(old);
        rmSync(manifestOf(old), { force: true });
      }
      return true;
    },
  };
}

/** Makes the folder if it does not exist. Throws StartupError if other users may write to it, or this user may not. */
function openFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const message = `${folder} is no folder that this user can write to`;
    throw new StartupError(message, 'give another folder with --backup-dir', { cause });
  }
  if ((statSync(folder).mode & 0o022) === 0) return;
  throw new StartupError(
    `others than its owner may write to ${folder}, where the backups go`,
    `close it: chmod go-w ${folder}`,
  );
}

const listBackups = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => nameShape.test(name))
    .sort();

function removeAbandoned(folder: string, nowMs: number): void {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(WORK_PREFIX))) {
    const path = join(folder, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() && nowMs - stats.mtimeMs > ABANDONED_MS) rmSync(path, { recursive: true, force: true });
  }
}
