import type { Instant } from '../contract/scalars.ts';
import type { Verdict } from '../domain/license-file/verify.ts';
import { createRandom } from '../service/context.ts';
import { withCopy } from '../store/backup/restore.ts';
import type { MasterKey } from '../store/secret-box.ts';
import { openStore } from '../store/store.ts';
import { type AccountReport, checkAccounts, isUnverifiable, verifyWith } from './account-check.ts';
import { migrateDatabase } from './databases.ts';

/** What a drill has found out about a backup. */
interface DrillReport {
  /** What the schema lacked, and now has in the copy that was tried. */
  readonly migrations: readonly string[];
  readonly accounts: readonly Omit<AccountReport, 'keys' | 'problems'>[];
  readonly licenseFiles: readonly { readonly name: string; readonly verdict: Verdict }[];
  /** What is wrong, one sentence each; none when the backup is good. */
  readonly problems: readonly string[];
}

/** What a drill works with besides the backup. */
interface DrillOptions {
  /** The copy that is tried is made in a folder beside this path, and removed again. */
  readonly workPath: string;
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
export function drill(file: string, { workPath, now, masterKey, licenseFiles }: DrillOptions): Promise<DrillReport> {
  return withCopy(file, workPath, async (copy) => {
    const migrations = await migrateDatabase(copy);
    const store = await openStore(copy, { sealing: { masterKey, random: createRandom() } });
    try {
      const reports = await checkAccounts(store.repositories);
      const keys = reports.flatMap((account) => account.keys);
      const verified = licenseFiles.map(({ name, text }) => ({ name, verdict: verifyWith(keys, text, now) }));
      const problems = [
        ...(reports.length === 0 ? ['there is no account in it'] : []),
        ...reports.flatMap((account) => account.problems),
        ...verified
          .filter(({ verdict }) => isUnverifiable(verdict))
          .map(({ name, verdict }) => `${name} does not verify: ${verdict}`),
      ];
      const accounts = reports.map(({ keys: _, problems: __, ...account }) => account);
      return { migrations, accounts, licenseFiles: verified, problems };
    } finally {
      await store.close();
    }
  });
}
