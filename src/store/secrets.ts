import type { Driver } from './engine/driver.ts';
import { StartupError } from './errors.ts';
import {
  createDataKey,
  type DataKey,
  type MasterKey,
  type Random,
  type Secrets,
  secretsUnder,
  unwrapDataKey,
  type WrappedKey,
  wrapDataKey,
} from './secret-box.ts';
import { accountRepository } from './tables/accounts.ts';
import { dataKeyRepository } from './tables/data-keys.ts';

/** The dependencies of sealing: the master key, which is not in the database, and unpredictable bytes. */
export interface Sealing {
  readonly masterKey: MasterKey | null;
  readonly random: Random;
}

/**
 * Finds out how the secrets of a database are kept. A new database gets a data key if there is a master key.
 *
 * @throws StartupError when the master key is missing, wrong, or not used by this database
 */
export async function findSecrets(
  driver: Pick<Driver, 'reader' | 'transaction'>,
  { masterKey, random }: Sealing,
): Promise<Secrets> {
  const find = () => dataKeyRepository(driver.reader).find();
  let wrapped = await find();
  const isUsed = (await accountRepository(driver.reader).oldest()) !== null;
  if (wrapped === null && masterKey !== null && !isUsed) {
    const made = wrapDataKey(masterKey, createDataKey(random), random);
    await driver.transaction((connection) => dataKeyRepository(connection).insert(made));
    // Another replica may have been faster.
    wrapped = await find();
  }
  return secretsUnder(openDataKey(masterKey, { wrapped, isUsed }), random);
}

/** How a database keeps its secrets. */
export interface SecretsKept {
  /** The data key; null for a database without one. */
  readonly wrapped: WrappedKey | null;
  /** Whether it has an account, and so secrets. */
  readonly isUsed: boolean;
}

/**
 * Opens the data key of a database; null where secrets are plain, and where a new database has yet to get a data key.
 *
 * @throws StartupError when the master key is missing, wrong, or not used by this database
 */
export function openDataKey(masterKey: MasterKey | null, { wrapped, isUsed }: SecretsKept): DataKey | null {
  if (masterKey !== null && wrapped !== null) {
    const key = unwrapDataKey(masterKey, wrapped);
    if (key !== null) return key;
    const hint = 'use the one that its secrets are sealed under';
    throw new StartupError('the master key is not that of this database', hint);
  }
  if (wrapped !== null) {
    const hint = 'set LKM_MASTER_KEY_FILE or LKM_MASTER_KEY';
    throw new StartupError('the secrets in this database are sealed, and there is no master key', hint);
  }
  if (masterKey !== null && isUsed) {
    const hint = 'seal them with lkm db rekey, or leave the master key out';
    throw new StartupError('the secrets in this database are plain, and there is a master key', hint);
  }
  return null;
}
