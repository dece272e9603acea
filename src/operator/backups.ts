import type { Instant } from '../contract/scalars.ts';
import { fileStamp } from '../domain/time.ts';
import { isTaken, type Restored, restoreBackup } from '../store/backup/restore.ts';
import { type BackupOptions, takeBackup } from '../store/backup/take.ts';

/** Writes a whole database into one file while servers go on using it; returns the size of the file in bytes. */
export const backUp = (location: string, file: string, options: BackupOptions): Promise<number> =>
  takeBackup(location, file, options);

/** Whether something stands where a backup is to be restored. */
export const isTargetTaken = (target: string): boolean => isTaken(target);

/** Puts a backup where a database is to stand; see `restoreBackup`. */
export const restore = (
  file: string,
  target: string,
  options: { readonly replace: boolean; readonly at: Instant },
): Promise<Restored> => restoreBackup(file, target, { replace: options.replace, stamp: fileStamp(options.at) });
