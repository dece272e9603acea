import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { ProductVersion } from '../contract/products.ts';
import { productsOf } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import type { Context } from './context.ts';
import { readList } from './lists.ts';
import { anyone, type Operations, ofWholeAccount, onProduct, orThrow, replayToAnyone } from './operation.ts';
import { eventOf } from './record.ts';
import { writeChanges } from './write-changes.ts';

export const productOperations: Operations<Contract['products']> = {
  list: {
    authorize: anyone,
    perform: async ({ repositories, caller }, input) =>
      readList(input, repositories.products.list(caller.accountId, productsOf(caller, undefined))),
  },

  create: {
    // A token that is limited to products could not use the new product.
    ...replayToAnyone(ofWholeAccount),
    async perform(context, { name, slug = null, id = newId('prod', context.now, context.random(10)) }) {
      const { repositories, caller, now, record } = context;
      await refuseSlug(context, slug, id);
      const added = await repositories.products.insert({ accountId: caller.accountId, id, name, slug, now });
      if (!added) throw apiError('productTaken');
      record(eventOf('product.created', 'product', id));
      return { id, name, slug, active: true, createdAt: now, updatedAt: now };
    },
  },

  get: {
    authorize: onProduct('productNotFound'),
    async perform({ repositories, caller }, { productId }) {
      const product = orThrow(await repositories.products.find(caller.accountId, productId), 'productNotFound');
      const versions = await repositories.productVersions.list(caller.accountId, productId);
      return { ...product, versions: versions.map(({ productId: _, ...version }) => version) };
    },
  },

  update: {
    ...replayToAnyone(onProduct('productNotFound')),
    async perform(context, { productId, name, slug, active }) {
      const { accountId } = context.caller;
      const { products } = context.repositories;
      const before = orThrow(await products.findLocked(accountId, productId), 'productNotFound');
      await refuseSlug(context, slug, productId);
      return writeChanges(context, before, {
        given: { name, slug, active },
        write: async (changes) => orThrow(await products.patch(accountId, productId, changes), 'slugTaken'),
        describe: ({ active }, changed) => eventOf('product.updated', 'product', productId, { changed, active }),
      });
    },
  },

  createVersion: {
    ...replayToAnyone(onProduct('productNotFound')),
    async perform({ repositories, caller, now, random, record }, { productId, version, description = null }) {
      const { accountId } = caller;
      orThrow(await repositories.products.find(accountId, productId), 'productNotFound');
      const added = { id: newId('ver', now, random(10)), version, description, createdAt: now };
      const isNew = await repositories.productVersions.insert({ ...added, accountId, productId });
      if (!isNew) throw apiError('versionTaken');
      record(eventOf('product.updated', 'product', productId, { versionId: added.id, active: true }));
      return { ...added, active: true };
    },
  },

  updateVersion: {
    ...replayToAnyone(onProduct('versionNotFound', ofWholeAccount)),
    async perform({ repositories, caller, record }, { versionId, active, productId }) {
      const version = await repositories.productVersions.patch(caller.accountId, versionId, { active });
      const { productId: of, ...shown } = orThrow(version, 'versionNotFound');
      // The error undoes the change.
      if (productId !== undefined && productId !== of) throw apiError('versionNotFound');
      record(eventOf('product.updated', 'product', of, { versionId, active }));
      return shown;
    },
  },
};

/** Throws ApiError `slugTaken` when another product has it. */
async function refuseSlug(
  { repositories, caller }: Context,
  slug: string | null | undefined,
  productId: string,
): Promise<void> {
  const other = slug == null ? null : await repositories.products.findBySlug(caller.accountId, slug);
  if (other !== null && other.id !== productId) throw apiError('slugTaken');
}

export type ShownVersion = Pick<ProductVersion, 'id' | 'version' | 'description' | 'active'>;

type Reading = Pick<Context, 'repositories' | 'caller'>;

export async function versionOf({ repositories, caller }: Reading, versionId: string): Promise<ShownVersion | null> {
  const version = await repositories.productVersions.find(caller.accountId, versionId);
  if (version === null) return null;
  const { productId: _, createdAt: _at, ...shown } = version;
  return shown;
}

/** Throws ApiError `versionNotFound` unless the product has this version, and it is active. */
export async function checkVersion(
  { repositories, caller }: Reading,
  { productId, versionId }: { readonly productId: string; readonly versionId: string },
): Promise<void> {
  const version = await repositories.productVersions.find(caller.accountId, versionId);
  if (version?.productId !== productId || !version.active) throw apiError('versionNotFound');
}
