import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { Product } from '../contract/products.ts';
import type { ProductId } from '../contract/scalars.ts';
import { changedFields } from '../domain/changed-fields.ts';
import { newId } from '../domain/ids.ts';
import { changeInstant } from '../domain/time.ts';
import { refuseStale } from './conditions.ts';
import type { Context, UseCase } from './context.ts';
import { readList } from './lists.ts';

type Products = Contract['products'];

/** Lists the products that the caller may access. */
export const listProducts: UseCase<Products['list']> = async (context, input) => {
  const { repositories, caller } = context;
  const { products } = repositories;
  if (caller.productIds !== null) {
    const allowed = await listAllowed(context, caller.productIds);
    return readList(input, {
      part: async ({ offset, limit }) => allowed.slice(offset, offset + limit),
      count: async () => allowed.length,
      all: () => allowed,
    });
  }
  return readList(input, {
    part: (range) => products.list(caller.accountId, range),
    count: () => products.count(caller.accountId),
    all: () => products.listAll(caller.accountId),
  });
};

/** The products of a token that is limited to some of them: few enough to be read one by one. */
async function listAllowed({ repositories, caller }: Context, ids: ReadonlySet<string>): Promise<Product[]> {
  const found: Product[] = [];
  for (const id of [...ids].sort()) {
    const product = await repositories.products.find(caller.accountId, id);
    if (product !== null) found.push(product);
  }
  return found;
}

/** Creates an active product. */
export const createProduct: UseCase<Products['create']> = async (
  { repositories, caller, now, random, record },
  { name, id: given },
) => {
  const id = given ?? newId('prod', now, random(10));
  const added = await repositories.products.insert({ accountId: caller.accountId, id, name, now });
  if (!added) throw apiError('productTaken');
  record({ type: 'product.created', resource: { type: 'product', id } });
  return { id, name, active: true, createdAt: now, updatedAt: now };
};

/** Shows one product with its versions. */
export const getProduct: UseCase<Products['get']> = async (context, { productId }) => {
  const product = await findProduct(context, productId);
  const versions = await context.repositories.productVersions.list(context.caller.accountId, productId);
  return { ...product, versions: versions.map(({ productId: _, ...version }) => version) };
};

/** Renames a product, or makes it active or inactive. Without a difference it is the same product, and no event. */
export const updateProduct: UseCase<Products['update']> = async (
  { repositories: { products }, caller: { accountId }, now, record },
  { productId, name, active, ifUpdatedAt },
) => {
  const before = await products.findLocked(accountId, productId);
  if (before === null) throw apiError('productNotFound');
  refuseStale(before, ifUpdatedAt);
  const changed = changedFields(before, { name, active });
  const resource = { type: 'product', id: productId } as const;
  if (changed.length === 0) {
    record({ resource, data: { changed, active: before.active } });
    return before;
  }
  const updatedAt = changeInstant(now, before.updatedAt);
  const product = (await products.patch(accountId, productId, { name, active, updatedAt })) ?? before;
  record({ type: 'product.updated', resource, data: { changed, active: product.active } });
  return product;
};

/** The product of this id. Throws ApiError `productNotFound`. */
export async function findProduct({ repositories, caller }: Context, productId: ProductId): Promise<Product> {
  const product = await repositories.products.find(caller.accountId, productId);
  if (product === null) throw apiError('productNotFound');
  return product;
}
