import { apiError } from '../contract/errors.ts';
import type { Product, products } from '../contract/products.ts';
import type { ProductId } from '../contract/scalars.ts';
import { newId } from '../domain/ids.ts';
import type { Context, UseCase } from './context.ts';
import { readAll, readList } from './lists.ts';
import { anyone, type Operations, ofWholeAccount, onProduct, sameForAll } from './operation.ts';
import { refuseStale, writeChanges } from './write-changes.ts';

type Products = typeof products;

/** Lists the products that the caller may access. */
const listProducts: UseCase<Products['list']> = async (context, input) => {
  const { repositories, caller } = context;
  if (caller.productIds !== null) return readAll(input, await listAllowed(context, caller.productIds));
  return readList(input, repositories.products.list(caller.accountId));
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
const createProduct: UseCase<Products['create']> = async (
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
const getProduct: UseCase<Products['get']> = async (context, { productId }) => {
  const product = await findProduct(context, productId);
  const versions = await context.repositories.productVersions.list(context.caller.accountId, productId);
  return { ...product, versions: versions.map(({ productId: _, ...version }) => version) };
};

/** Renames a product, or makes it active or inactive. Without a difference it is the same product, and no event. */
const updateProduct: UseCase<Products['update']> = async (context, { productId, name, active, ifUpdatedAt }) => {
  const { accountId } = context.caller;
  const { products } = context.repositories;
  const before = await products.findLocked(accountId, productId);
  if (before === null) throw apiError('productNotFound');
  refuseStale(before, ifUpdatedAt);
  const changes = { name, active };
  return writeChanges(context, before, changes, {
    type: 'product.updated',
    resource: { type: 'product', id: productId },
    factsOf: ({ active }) => ({ active }),
    write: async (updatedAt) => (await products.patch(accountId, productId, { ...changes, updatedAt })) ?? before,
  });
};

/** The product of this id. Throws ApiError `productNotFound`. */
export async function findProduct({ repositories, caller }: Context, productId: ProductId): Promise<Product> {
  const product = await repositories.products.find(caller.accountId, productId);
  if (product === null) throw apiError('productNotFound');
  return product;
}

/** The operations on products. */
export const productOperations: Operations<typeof products> = {
  list: { perform: listProducts, authorize: anyone },
  create: {
    perform: createProduct,
    // The maker could not use a product that its token is not for.
    authorize: ofWholeAccount,
    authorizeReplay: sameForAll,
  },
  get: { perform: getProduct, authorize: onProduct('productNotFound') },
  update: { perform: updateProduct, authorize: onProduct('productNotFound'), authorizeReplay: sameForAll },
};
