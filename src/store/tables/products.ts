import type { Product } from '../../contract/products.ts';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { isAmong, raw, sql } from '../engine/sql.ts';
import { nullIfTaken } from '../errors.ts';
import { type List, listsOf } from '../lists.ts';
import { type Changes, flag, oldestFirst, optional, type RecordOf, tableOf, text, unlessTaken } from '../table.ts';

const productColumns = {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  name: text('name'),
  slug: optional(text('slug')),
  active: flag('active'),
  createdAt: text<Instant>('created_at'),
  updatedAt: text<Instant>('updated_at'),
};

const products = tableOf('products', productColumns, ['accountId']);
const lists = listsOf(products, 'id');

type ProductChanges = Pick<Changes<typeof productColumns>, 'name' | 'slug' | 'active' | 'updatedAt'>;

export interface NewProduct {
  readonly accountId: AccountId;
  readonly id: string;
  readonly name: string;
  readonly slug?: string | null;
  readonly now: Instant;
}

/** The products of accounts. */
export const productRepository = (db: Connection) => ({
  /** False when its id or its slug is taken. */
  insert: ({ now, slug = null, ...product }: NewProduct) =>
    products.insert(db, { ...product, slug, active: true, createdAt: now, updatedAt: now }, unlessTaken),

  findBySlug: (accountId: AccountId, slug: string): Promise<Product | null> => products.find(db, { accountId, slug }),

  find: (accountId: AccountId, id: string): Promise<Product | null> => products.find(db, { accountId, id }),

  /** Locks and returns a product. */
  findLocked: (accountId: AccountId, id: string): Promise<Product | null> => products.lock(db, { accountId, id }),

  /** Oldest first; null stands for all products. */
  list: (accountId: AccountId, ids: readonly string[] | null = null): List<Product> =>
    lists.of(db, { accountId }, ids === null ? {} : { conditions: [isAmong(raw('products.id'), ids)] }),

  /** Null when its slug is taken. */
  patch: (accountId: AccountId, id: string, changes: ProductChanges): Promise<Product | null> =>
    products.patch(db, { accountId, id }, changes).catch(nullIfTaken),
});

const versionColumns = {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  productId: text('product_id'),
  version: text('version'),
  description: optional(text('description')),
  active: flag('active'),
  createdAt: text<Instant>('created_at'),
};

const versions = tableOf('product_versions', versionColumns, ['accountId']);
const unlessNamed = sql`on conflict (account_id, product_id, version) do nothing`;

export type ProductVersionRow = Omit<RecordOf<typeof versionColumns>, 'accountId'>;

/** The versions of products. */
export const productVersionRepository = (db: Connection) => ({
  /** False when the product has a version of that name. */
  insert: (version: Omit<ProductVersionRow, 'active'> & { accountId: AccountId }) =>
    versions.insert(db, { ...version, active: true }, unlessNamed),

  find: (accountId: AccountId, id: string): Promise<ProductVersionRow | null> => versions.find(db, { accountId, id }),

  /** Oldest first. */
  list: (accountId: AccountId, productId: string): Promise<ProductVersionRow[]> =>
    versions.findAll(db, { accountId, productId }).then(oldestFirst),

  patch: (accountId: AccountId, id: string, changes: { readonly active?: boolean | undefined }) =>
    versions.patch(db, { accountId, id }, changes),
});
