import { endpoint } from './endpoint.ts';
import { request } from './fields.ts';
import { ProductVersion } from './products.ts';
import { data } from './reply.ts';
import { Active, ProductId, text, VersionId, VersionName } from './scalars.ts';

export const productVersions = {
  /** Adds a version to a product, active. Source: decision 0005. */
  createVersion: endpoint('POST /product/version', 'product:write', {
    summary: 'Add a version to a product',
    description: 'Adds an active version to a product. Its name is unique in the product.',
    body: request('CreateVersionRequest', {
      productId: ProductId,
      version: VersionName,
      description: text(0, 500).optional().describe('What is new in it'),
    }),
    reply: data('CreateVersionResponse', ProductVersion),
    example: { description: 'The autumn release' },
    errors: ['productNotFound', 'versionTaken'],
  }),

  /** Makes a version active or inactive. Source: decision 0005. */
  updateVersion: endpoint('PUT /product/version', 'product:write', {
    summary: 'Update a version of a product',
    description:
      'Makes a version active or inactive. No further licence gets an inactive one; those that have it keep it. A token ' +
      'that is limited to some products has to name the product.',
    body: request('UpdateVersionRequest', {
      versionId: VersionId,
      active: Active.describe('Whether licences may be given this version'),
      productId: ProductId.optional().describe('The product that it is expected to be of'),
    }),
    reply: data('UpdateVersionResponse', ProductVersion),
    errors: ['versionNotFound'],
  }),
};
