import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { sql } from '../engine/sql.ts';
import { flag, optional, type RecordOf, tableOf, text } from '../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  productId: text('product_id'),
  version: text('version'),
  description: optional(text('description')),
  active: flag('active'),
  createdAt: text<Instant>('created_at'),
};

const versions = tableOf('product_versions', columns, ['accountId']);
const unlessNamed = sql`on conflict (account_id, product_id, version) do nothing`;

/** A version of a product. */
export type ProductVersionRow = Omit<RecordOf<typeof columns>, 'accountId'>;

/** The versions of products. */
export const productVersionRepository = (db: Connection) => ({
  /** Adds an active version; false when the product has one of that name. */
  insert: (version: Omit<ProductVersionRow, 'active'> & { accountId: AccountId }): Promise<boolean> =>
    versions.insert(db, { ...version, active: true }, unlessNamed),

  find: (accountId: AccountId, id: string): Promise<ProductVersionRow | null> => versions.find(db, { accountId, id }),

  /** All versions of a product, oldest first. */
  async list(accountId: AccountId, productId: string): Promise<ProductVersionRow[]> {
    const found = await versions.findAll(db, { accountId, productId });
    return found.sort((one, other) => (one.id < other.id ? -1 : 1));
  },

  /** Changes what is given, and returns the version as it is then; null when there is none. */
  patch: (
    accountId: AccountId,
    id: string,
    changes: { readonly active?: boolean | undefined },
  ): Promise<ProductVersionRow | null> => versions.patch(db, { accountId, id }, changes),
});
