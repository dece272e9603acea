import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { Product } from '../contract/products.ts';
import type { ProductId } from '../contract/scalars.ts';
import { canAccessProduct } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import type { Context } from './context.ts';

type Products = Contract['products'];

/** Lists the products that the caller may touch. */
export async function listProducts({ repositories, caller }: Context): Promise<PayloadOf<Products['list']>> {
  const products = await Array.fromAsync(repositories.products.listAll(caller.accountId));
  return products.filter((product) => canAccessProduct(caller, product.id));
}

/** Creates an active product. */
export async function createProduct(
  { repositories, caller, now, random }: Context,
  { name }: InputOf<Products['create']>,
): Promise<PayloadOf<Products['create']>> {
  // A product that its own maker could not see would be of no use to anyone.
  if (caller.productIds !== null) throw apiError('scopeMissing');
  const id = newId('prod', now, random(10));
  await repositories.products.insert({ accountId: caller.accountId, id, name, now });
  return { id, name, active: true, createdAt: now, updatedAt: now };
}

/** Shows one product. */
export async function getProduct(
  context: Context,
  { productId }: InputOf<Products['get']>,
): Promise<PayloadOf<Products['get']>> {
  return findProduct(context, productId);
}

/** Renames a product, or makes it active or inactive. */
export async function updateProduct(
  { repositories, caller, now }: Context,
  { productId, name, active }: InputOf<Products['update']>,
): Promise<PayloadOf<Products['update']>> {
  const product = canAccessProduct(caller, productId)
    ? await repositories.products.patch(caller.accountId, productId, { name, active, updatedAt: now })
    : null;
  if (product === null) throw apiError('productNotFound');
  return product;
}

async function findProduct({ repositories, caller }: Context, productId: ProductId): Promise<Product> {
  const product = canAccessProduct(caller, productId)
    ? await repositories.products.find(caller.accountId, productId)
    : null;
  if (product === null) throw apiError('productNotFound');
  return product;
}
