import type { Product } from '../../contract/products.ts';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { listsOf, type Page } from '../lists.ts';
import { byKey, type Changes, flag, insertInto, readerOf, type Table, text } from '../table.ts';

export const productColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  name: text()('name'),
  active: flag()('active'),
  createdAt: text<Instant>()('created_at'),
  updatedAt: text<Instant>()('updated_at'),
};

const products: Table<typeof productColumns> = { name: 'products', columns: productColumns };
const insert = insertInto(products, { skipConflictsOn: 'any' });
const toProduct = readerOf(products, ['id', 'name', 'active', 'createdAt', 'updatedAt']);
const byId = byKey(products, ['accountId', 'id'], toProduct);
const lists = listsOf(products, toProduct, { scope: ['accountId'], order: 'id', conditions: {} });

/** The products of accounts. */
export const productRepository = (db: Connection) => ({
  /** Adds an active product; false when its id is taken. */
  async insert({
    now,
    ...product
  }: {
    accountId: AccountId;
    id: string;
    name: string;
    now: Instant;
  }): Promise<boolean> {
    return (await db.run(insert, { ...product, active: true, createdAt: now, updatedAt: now })) === 1;
  },

  find: (accountId: AccountId, id: string): Promise<Product | null> => byId.find(db, { accountId, id }),

  /** The product, kept from all others until this transaction ends. */
  findLocked: (accountId: AccountId, id: string): Promise<Product | null> => byId.lock(db, { accountId, id }),

  /** Products, oldest first. */
  list: (accountId: AccountId, page: Page): Promise<Product[]> => lists.page(db, { accountId }, page),

  count: (accountId: AccountId): Promise<number> => lists.count(db, { accountId }),

  /** All products, oldest first. */
  listAll: (accountId: AccountId): AsyncGenerator<Product> => lists.walk(db, { accountId }),

  /** Changes what is given, and returns the product as it is then; null when there is none. */
  patch: (
    accountId: AccountId,
    id: string,
    changes: Pick<Changes<typeof productColumns>, 'name' | 'active' | 'updatedAt'>,
  ): Promise<Product | null> => byId.patch(db, { accountId, id }, changes),
});
