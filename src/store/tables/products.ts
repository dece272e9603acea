import type { Product } from '../../contract/products.ts';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { listsOf, type Page } from '../lists.ts';
import { type Changes, flag, insertInto, patchOf, readerOf, type Table, text } from '../table.ts';

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
const patch = patchOf(products, ['accountId', 'id']);
const lists = listsOf(products, { scope: ['accountId'], order: 'id', conditions: {} });
const toProduct = readerOf(products, ['id', 'name', 'active', 'createdAt', 'updatedAt']);

const find = statement<{ accountId: AccountId; id: string }>()((db, $) =>
  db.selectFrom('products').selectAll().where('account_id', '=', $.accountId).where('id', '=', $.id),
);

const findLocked = statement<{ accountId: AccountId; id: string }>()((db, $) =>
  db.selectFrom('products').selectAll().where('account_id', '=', $.accountId).where('id', '=', $.id).forUpdate(),
);

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

  async find(accountId: AccountId, id: string): Promise<Product | null> {
    const row = await db.first(find, { accountId, id });
    return row === undefined ? null : toProduct(row);
  },

  /** The product, kept from all others until this transaction ends. */
  async findLocked(accountId: AccountId, id: string): Promise<Product | null> {
    const row = await db.first(findLocked, { accountId, id });
    return row === undefined ? null : toProduct(row);
  },

  /** Products, oldest first. */
  async list(accountId: AccountId, page: Page): Promise<Product[]> {
    return (await lists.page(db, { accountId }, page)).map(toProduct);
  },

  /** How many products there are. */
  count: (accountId: AccountId): Promise<number> => lists.count(db, { accountId }),

  /** All products, oldest first. */
  async *listAll(accountId: AccountId): AsyncGenerator<Product> {
    for await (const rows of lists.walk(db, { accountId })) yield* rows.map(toProduct);
  },

  /** Changes what is given, in one statement, and returns the product as it is then; null when there is none. */
  async patch(
    accountId: AccountId,
    id: string,
    changes: Pick<Changes<typeof productColumns>, 'name' | 'active' | 'updatedAt'>,
  ): Promise<Product | null> {
    const row = await db.first(patch(changes), { ...changes, accountId, id });
    return row === undefined ? null : toProduct(row);
  },
});
