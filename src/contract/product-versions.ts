import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { examples } from './openapi/examples.ts';
import { ProductVersion } from './products.ts';
import { data } from './reply.ts';
import { ProductId, text, VersionId, VersionName } from './scalars.ts';

const productId = examples.product.id;
const { id: versionId, version, description } = examples.version;

/** The operations on versions: operations on products. */
export const productVersions = {
  /** Adds a version to a product, active. */
  createVersion: endpoint({
    summary: 'Add a version to a product',
    description: 'Adds an active version to a product. Its name is unique in the product.',
    method: 'POST',
    path: '/product/version',
    scope: 'product:write',
    body: z
      .object({
        productId: ProductId,
        version: VersionName,
        description: text(0, 500).optional().describe('What is new in it'),
      })
      .meta({ id: 'CreateVersionRequest' }),
    reply: data('CreateVersionResponse', ProductVersion),
    example: { body: { productId, version, description }, reply: examples.version },
    errors: ['productNotFound', 'versionTaken'],
    source: 'decision 0005',
  }),

  /** Makes a version active or inactive. */
  updateVersion: endpoint({
    summary: 'Update a version of a product',
    description:
      'Makes a version active or inactive. An inactive version is given to no further licence; those that have it keep ' +
      'it. A token that is limited to some products has to name the product.',
    method: 'PUT',
    path: '/product/version',
    scope: 'product:write',
    body: z
      .object({
        versionId: VersionId,
        active: z.boolean().describe('Whether licences may be given this version'),
        productId: ProductId.optional().describe('The product that it is expected to be of'),
      })
      .meta({ id: 'UpdateVersionRequest' }),
    reply: data('UpdateVersionResponse', ProductVersion),
    example: { body: { versionId, active: false }, reply: { ...examples.version, active: false } },
    errors: ['versionNotFound'],
    source: 'decision 0005',
  }),
};
