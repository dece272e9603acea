import type { Product } from '../../contract/products.ts';
import type { AccountId, Instant, ProductId } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import type { ProductRow } from '../schema.ts';
import { listsOf } from './lists.ts';

const insert = statement<{ accountId: string; id: string; name: string; now: string }>()((db, $) =>
  db
    .insertInto('products')
    .values({ account_id: $.accountId, id: $.id, name: $.name, active: 1, created_at: $.now, updated_at: $.now }),
);

const find = statement<{ accountId: string; id: string }>()((db, $) =>
  db.selectFrom('products').selectAll().where('account_id', '=', $.accountId).where('id', '=', $.id),
);

const list = statement<{ accountId: string; after: string; limit: number }>()((db, $) =>
  db
    .selectFrom('products')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('id', '>', $.after)
    .orderBy('id')
    .limit($.limit),
);

const update = statement<{ accountId: string; id: string; name: string; active: 0 | 1; now: string }>()((db, $) =>
  db
    .updateTable('products')
    .set({ name: $.name, active: $.active, updated_at: $.now })
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id),
);

/** The products of accounts. */
export const productRepository = (db: Connection) => ({
  /** Adds an active product. */
  async insert(product: { accountId: AccountId; id: string; name: string; now: Instant }): Promise<void> {
    await db.run(insert, product);
  },

  async find(accountId: AccountId, id: ProductId | string): Promise<Product | null> {
    const row = await db.first(find, { accountId, id });
    return row === undefined ? null : toProduct(row);
  },

  ...listsOf(
    async (accountId, after, limit) => (await db.all(list, { accountId, after, limit })).map(toProduct),
    () => true,
  ),

  async update(accountId: AccountId, product: Pick<Product, 'id' | 'name' | 'active'>, now: Instant): Promise<void> {
    await db.run(update, { accountId, id: product.id, name: product.name, active: product.active ? 1 : 0, now });
  },
});

const toProduct = (row: ProductRow): Product => ({
  id: row.id,
  name: row.name,
  active: row.active === 1,
  createdAt: row.created_at as Instant,
  updatedAt: row.updated_at as Instant,
});
