import type { Instant } from '../contract/scalars.ts';
import type { Verdict } from '../domain/license-file/verify.ts';
import { createRandom } from '../service/context.ts';
import { isTaken, type Restored, restoreBackup, withCopy } from '../store/backup/restore.ts';
import { type BackupOptions, takeBackup } from '../store/backup/take.ts';
import { migrate } from '../store/migrate.ts';
import type { MasterKey } from '../store/secret-box.ts';
import { openDatabase, openStore } from '../store/store.ts';
import { type AccountReport, checkAccount, isUnsigned, verifyWith } from './drill.ts';

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
): Promise<Restored> =>
  restoreBackup(file, target, { replace: options.replace, stamp: options.at.slice(0, 19).replaceAll(':', '-') });

/** A licence file that the public keys of a backup were tried on. */
export interface VerifiedFile {
  readonly name: string;
  readonly verdict: Verdict;
}

/** What a drill has found out about a backup. */
export interface DrillReport {
  /** What the schema lacked, and now has in the copy that was tried. */
  readonly migrations: readonly string[];
  readonly accounts: readonly AccountReport[];
  readonly licenseFiles: readonly VerifiedFile[];
  /** What is wrong, one sentence each; none when the backup is good. */
  readonly problems: readonly string[];
}

/** What a drill works with besides the backup. */
export interface DrillOptions {
  /** The copy that is tried is made in a folder beside this path, and removed again. */
  readonly place: string;
  readonly now: Instant;
  /** What the secrets of the backup are sealed under; null when they are plain. */
  readonly masterKey: MasterKey | null;
  /** Licence files as customers have them, by name. */
  readonly licenseFiles: readonly { readonly name: string; readonly text: string }[];
}

/**
 * Restores a backup on trial: every page is read, the schema brought up to date, the audit chain of each account
 * followed from its first row, and licence files are signed with its keys and verified. Changes nothing but a copy.
 *
 * @throws StartupError when it cannot be opened as a database of lkm at all
 */
export function drill(file: string, { place, now, masterKey, licenseFiles }: DrillOptions): Promise<DrillReport> {
  return withCopy(file, place, async (copy) => {
    const migrations = await migrateCopy(copy);
    const store = await openStore(copy, { sealing: { masterKey, random: createRandom() } });
    try {
      const accounts: AccountReport[] = [];
      const { repositories } = store;
      for (let id = await repositories.accounts.next(''); id !== null; id = await repositories.accounts.next(id)) {
        accounts.push(await checkAccount(repositories, id));
      }
      const keys = accounts.flatMap((account) => account.keys);
      const verified = licenseFiles.map(({ name, text }) => ({ name, verdict: verifyWith(keys, text, now) }));
      const problems = [
        ...(accounts.length === 0 ? ['there is no account in it'] : []),
        ...accounts.flatMap((account) => account.problems),
        ...verified
          .filter(({ verdict }) => isUnsigned(verdict))
          .map(({ name, verdict }) => `${name} does not verify: ${verdict}`),
      ];
      return { migrations, accounts, licenseFiles: verified, problems };
    } finally {
      await store.close();
    }
  });
}

async function migrateCopy(copy: string): Promise<readonly string[]> {
  const database = await openDatabase(copy);
  try {
    return await migrate(database.kysely);
  } finally {
    await database.close();
  }
}
