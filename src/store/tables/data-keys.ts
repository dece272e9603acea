import type { Connection } from '../engine/driver.ts';
import type { WrappedKey } from '../secret-box.ts';
import { byKey, insertInto, optional, readerOf, type Table, text } from '../table.ts';

export const dataKeyColumns = {
  /** There is one for the whole database. */
  slot: text<'current'>()('slot'),
  id: text()('id'),
  /** Under the master key, which is not kept here. */
  sealed: text()('sealed'),
  salt: optional(text()('salt')),
};

const dataKeys: Table<typeof dataKeyColumns> = { name: 'data_keys', columns: dataKeyColumns };
const insert = insertInto(dataKeys, { skipConflictsOn: { columns: ['slot'] } });
const bySlot = byKey(dataKeys, ['slot'], readerOf(dataKeys, ['id', 'sealed', 'salt']));

/** The key that seals the secrets of this database, itself sealed. */
export const dataKeyRepository = (db: Connection) => ({
  /** Null where secrets are kept plain. */
  find: (): Promise<WrappedKey | null> => bySlot.find(db, { slot: 'current' }),

  /** Keeps a key unless there is one. */
  async insert(key: WrappedKey): Promise<void> {
    await db.run(insert, { slot: 'current', ...key });
  },
});
