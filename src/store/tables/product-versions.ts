import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { listsOf } from '../lists.ts';
import { byKey, type Changes, flag, insertInto, optional, readerOf, type Table, text } from '../table.ts';

export const productVersionColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  productId: text()('product_id'),
  version: text()('version'),
  description: optional(text()('description')),
  active: flag()('active'),
  createdAt: text<Instant>()('created_at'),
};

const versions: Table<typeof productVersionColumns> = { name: 'product_versions', columns: productVersionColumns };
const insert = insertInto(versions, { skipConflictsOn: { columns: ['account_id', 'product_id', 'version'] } });
const toVersion = readerOf(versions, ['id', 'productId', 'version', 'description', 'active', 'createdAt']);
const byId = byKey(versions, ['accountId', 'id'], toVersion);
const lists = listsOf(versions, toVersion, { scope: ['accountId', 'productId'], order: 'id', conditions: {} });

/** A version of a product. */
export type ProductVersionRow = ReturnType<typeof toVersion>;

/** The versions of products. */
export const productVersionRepository = (db: Connection) => ({
  /** Adds an active version; false when the product has one of that name. */
  async insert(version: Omit<ProductVersionRow, 'active'> & { accountId: AccountId }): Promise<boolean> {
    return (await db.run(insert, { ...version, active: true })) === 1;
  },

  find: (accountId: AccountId, id: string): Promise<ProductVersionRow | null> => byId.find(db, { accountId, id }),

  /** All versions of a product, oldest first. */
  async list(accountId: AccountId, productId: string): Promise<ProductVersionRow[]> {
    const versions = await lists.all(db, { accountId, productId });
    return versions.sort((one, other) => (one.id < other.id ? -1 : 1));
  },

  /** Changes what is given, and returns the version as it is then; null when there is none. */
  patch: (
    accountId: AccountId,
    id: string,
    changes: Pick<Changes<typeof productVersionColumns>, 'active'>,
  ): Promise<ProductVersionRow | null> => byId.patch(db, { accountId, id }, changes),
});
