import { apiError } from '../contract/errors.ts';
import type { productVersions } from '../contract/product-versions.ts';
import type { ProductVersion } from '../contract/products.ts';
import { newId } from '../domain/ids.ts';
import type { License } from '../domain/license.ts';
import type { Context, UseCase } from './context.ts';
import { type Operations, ofWholeAccount, onProduct, sameForAll } from './operation.ts';
import { findProduct } from './products.ts';

type Products = typeof productVersions;

/** Adds an active version to a product. */
const createVersion: UseCase<Products['createVersion']> = async (context, { productId, version, description }) => {
  const { repositories, caller, now, random, record } = context;
  await findProduct(context, productId);
  const added = { id: newId('ver', now, random(10)), version, description: description ?? null, createdAt: now };
  if (!(await repositories.productVersions.insert({ ...added, accountId: caller.accountId, productId }))) {
    throw apiError('versionTaken');
  }
  const data = { versionId: added.id, active: true };
  record({ type: 'product.updated', resource: { type: 'product', id: productId }, data });
  return { ...added, active: true };
};

/** Makes a version active or inactive. */
const updateVersion: UseCase<Products['updateVersion']> = async (
  { repositories, caller, record },
  { versionId, active, productId },
) => {
  const version = await repositories.productVersions.patch(caller.accountId, versionId, { active });
  if (version === null) throw apiError('versionNotFound');
  const { productId: of, ...shown } = version;
  // What was changed is undone with the request.
  if (of !== (productId ?? of)) throw apiError('versionNotFound');
  record({ type: 'product.updated', resource: { type: 'product', id: of }, data: { versionId, active } });
  return shown;
};

/** What a licence says of its version. */
export type ShownVersion = Pick<ProductVersion, 'id' | 'version' | 'description' | 'active'>;

type Reading = Pick<Context, 'repositories' | 'caller'>;

/** The version that a licence is for; null when it has none. */
export async function versionOf(
  { repositories, caller }: Reading,
  { versionId }: Pick<License, 'versionId'>,
): Promise<ShownVersion | null> {
  if (versionId === null) return null;
  const found = await repositories.productVersions.find(caller.accountId, versionId);
  if (found === null) return null;
  const { id, version, description, active } = found;
  return { id, version, description, active };
}

/** Throws ApiError `versionNotFound` unless the product has this version, and it is active. */
export async function checkVersion(
  { repositories, caller }: Reading,
  { productId, versionId }: { readonly productId: string; readonly versionId: string },
): Promise<void> {
  const version = await repositories.productVersions.find(caller.accountId, versionId);
  if (version?.productId !== productId || !version.active) throw apiError('versionNotFound');
}

/** The operations on the versions of products. */
export const versionOperations: Operations<typeof productVersions> = {
  createVersion: { perform: createVersion, authorize: onProduct('productNotFound'), authorizeReplay: sameForAll },
  updateVersion: {
    perform: updateVersion,
    authorize: (caller, { productId }) =>
      productId === undefined ? ofWholeAccount(caller) : onProduct('versionNotFound')(caller, { productId }),
    authorizeReplay: sameForAll,
  },
};
