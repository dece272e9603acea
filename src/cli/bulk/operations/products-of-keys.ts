import type { Client } from '../../../client/client.ts';
import { ApiError } from '../../../contract/errors.ts';
import type { Need, Preparation } from '../preparation.ts';

/** Products and versions of keys that move in: with `createProducts` those that are not there are made, named as their ids. */
export const productsOfKeys: Preparation = {
  needsOf: ({ productId, version }, { createProducts }) => {
    if (createProducts !== true || typeof productId !== 'string') return [];
    const product: Need = { kind: 'product', name: productId, input: { productId } };
    if (typeof version !== 'string') return [product];
    return [product, { kind: 'version', name: `${productId} ${version}`, input: { productId, version } }];
  },

  async find(client, { kind, input }) {
    const { productId = '', version = '' } = input ?? {};
    const versions = await findVersions(client, productId);
    if (kind === 'product') return versions === null ? null : productId;
    return versions?.get(version) ?? null;
  },

  async make(client, { kind, input }, call) {
    const { productId = '', version = '' } = input ?? {};
    if (kind === 'product') return (await client.products.create({ id: productId, name: productId }, call)).id;
    return (await client.products.createVersion({ productId, version }, call)).id;
  },
};

/** The ids of the versions of a product by their names; null when there is no such product. */
async function findVersions(client: Client, productId: string): Promise<ReadonlyMap<string, string> | null> {
  try {
    const { versions } = await client.products.get({ productId });
    return new Map(versions.map(({ version, id }) => [version, id]));
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'productNotFound') return null;
    throw error;
  }
}
