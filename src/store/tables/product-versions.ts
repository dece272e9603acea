import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { listsOf } from '../lists.ts';
import { type Changes, flag, insertInto, optional, patchOf, readerOf, type Table, text } from '../table.ts';

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
const patch = patchOf(versions, ['accountId', 'id']);
const lists = listsOf(versions, { scope: ['accountId', 'productId'], order: 'id', conditions: {} });
const toVersion = readerOf(versions, ['id', 'productId', 'version', 'description', 'active', 'createdAt']);

/** A version of a product. */
export type ProductVersionRow = ReturnType<typeof toVersion>;

const find = statement<{ accountId: AccountId; id: string }>()((db, $) =>
  db.selectFrom('product_versions').selectAll().where('account_id', '=', $.accountId).where('id', '=', $.id),
);

/** The versions of products. */
export const productVersionRepository = (db: Connection) => ({
  /** Adds an active version; false when the product has one of that name. */
  async insert(version: Omit<ProductVersionRow, 'active'> & { accountId: AccountId }): Promise<boolean> {
    return (await db.run(insert, { ...version, active: true })) === 1;
  },

  async find(accountId: AccountId, id: string): Promise<ProductVersionRow | null> {
    const row = await db.first(find, { accountId, id });
    return row === undefined ? null : toVersion(row);
  },

  /** All versions of a product, oldest first. */
  async list(accountId: AccountId, productId: string): Promise<ProductVersionRow[]> {
    const rows = await lists.all(db, { accountId, productId });
    return rows.map(toVersion).sort((one, other) => (one.id < other.id ? -1 : 1));
  },

  /** Changes what is given, in one statement, and returns the version as it is then; null when there is none. */
  async patch(
    accountId: AccountId,
    id: string,
    changes: Pick<Changes<typeof productVersionColumns>, 'active'>,
  ): Promise<ProductVersionRow | null> {
    const row = await db.first(patch(changes), { ...changes, accountId, id });
    return row === undefined ? null : toVersion(row);
  },
});
