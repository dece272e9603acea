import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import type { WrappedKey } from '../secret-box.ts';
import { insertInto, optional, type Table, text } from '../table.ts';

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

const find = statement<object>()((db) => db.selectFrom('data_keys').selectAll().where('slot', '=', 'current'));

/** The key that seals the secrets of this database, itself sealed. */
export const dataKeyRepository = (db: Connection) => ({
  /** Null where secrets are kept plain. */
  async find(): Promise<WrappedKey | null> {
    return (await db.first(find, {})) ?? null;
  },

  /** Keeps a key unless there is one. */
  async insert(key: WrappedKey): Promise<void> {
    await db.run(insert, { slot: 'current', ...key });
  },
});
