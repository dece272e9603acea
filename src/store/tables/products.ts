import type { Product } from '../../contract/products.ts';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { type List, listsOf } from '../lists.ts';
import { type Changes, flag, tableOf, text, unlessTaken } from '../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  name: text('name'),
  active: flag('active'),
  createdAt: text<Instant>('created_at'),
  updatedAt: text<Instant>('updated_at'),
};

const products = tableOf('products', columns, ['accountId']);
const lists = listsOf(products, 'id');

/** The products of accounts. */
export const productRepository = (db: Connection) => ({
  /** Adds an active product; false when its id is taken. */
  insert: ({ now, ...product }: { accountId: AccountId; id: string; name: string; now: Instant }): Promise<boolean> =>
    products.insert(db, { ...product, active: true, createdAt: now, updatedAt: now }, unlessTaken),

  find: (accountId: AccountId, id: string): Promise<Product | null> => products.find(db, { accountId, id }),

  /** The product, kept from all others until this transaction ends. */
  findLocked: (accountId: AccountId, id: string): Promise<Product | null> => products.lock(db, { accountId, id }),

  /** Products, oldest first. */
  list: (accountId: AccountId): List<Product> => lists.of(db, { accountId }),

  /** Changes what is given, and returns the product as it is then; null when there is none. */
  patch: (
    accountId: AccountId,
    id: string,
    changes: Pick<Changes<typeof columns>, 'name' | 'active' | 'updatedAt'>,
  ): Promise<Product | null> => products.patch(db, { accountId, id }, changes),
});
