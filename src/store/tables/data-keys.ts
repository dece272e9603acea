import type { Connection } from '../engine/driver.ts';
import type { WrappedKey } from '../secret-box.ts';
import { tableOf, text, unlessTaken } from '../table.ts';

const columns = {
  /** Always `current`: a database has one data key. */
  slot: text<'current'>('slot'),
  id: text('id'),
  /** The data key, sealed under the master key. */
  sealed: text('sealed'),
};

const dataKeys = tableOf('data_keys', columns, ['slot']);
const slot = 'current' as const;

/** The key that seals the secrets of this database, itself sealed. */
export const dataKeyRepository = (db: Connection) => ({
  /** Null where secrets are kept plain. */
  find: () => dataKeys.find(db, { slot }),

  /** Keeps a key unless the database has a key; false when it has. */
  insert: (key: WrappedKey) => dataKeys.insert(db, { slot, ...key }, unlessTaken),

  remove: () => dataKeys.remove(db, { slot }),
});
