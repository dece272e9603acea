import { dirname, join, resolve } from 'node:path';
import { option, type ValuesOf } from '../../command.ts';
import { isPostgres } from '../../config/location.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { parseDuration } from '../../values/duration.ts';
import { parsePositive } from '../../values/scalars.ts';

/** Backups that are kept unless it is said: two days of hourly ones. */
const DEFAULT_KEEP = 48;

const MIN_EVERY_MS = 1_000;

/** The options of a server that backs its database up. */
export const backupOptions = {
  backupEvery: option('--backup-every <DUR>', 'back the database up so often, as 1h', { parse: parseDuration }),
  backupKeep: option('--backup-keep <N>', 'how many backups are kept (48)', { parse: parsePositive }),
  backupDir: option('--backup-dir <DIR>', 'where they go (backups, beside the database)'),
};

/** The schedule that the options ask for, or undefined. Throws `UsageError` when one of them lacks another. */
export function backupSchedule(
  values: ValuesOf<typeof backupOptions>,
  db: string,
  { cwd }: Pick<Io, 'cwd'>,
): { readonly everyMs: number; readonly keep: number; readonly folder: string } | undefined {
  const { backupEvery: everyMs, backupKeep: keep = DEFAULT_KEEP, backupDir } = values;
  if (everyMs === undefined) {
    if (values.backupKeep === undefined && backupDir === undefined) return undefined;
    throw new UsageError('--backup-keep and --backup-dir go with --backup-every');
  }
  if (everyMs < MIN_EVERY_MS) throw new UsageError('--backup-every is at least 1s');
  if (backupDir !== undefined) return { everyMs, keep, folder: resolve(cwd, backupDir) };
  if (isPostgres(db)) throw new UsageError('a backup of PostgreSQL needs a place: give --backup-dir DIR');
  return { everyMs, keep, folder: join(dirname(db), 'backups') };
}
