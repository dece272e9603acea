import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { changing, pageFields, request } from './fields.ts';
import { acted, data, listReply } from './reply.ts';
import {
  Active,
  InstantText,
  Name,
  ProductId,
  resource,
  Slug,
  shown,
  shownId,
  text,
  VersionId,
  VersionName,
} from './scalars.ts';

/** A software title that is distributed. Only active products issue keys. */
export const Product = resource('Product', 'A software title that is distributed', {
  id: shownId(ProductId),
  name: shown('Its name', 'Editor'),
  slug: shown('Its short name for scripts; null: none', 'editor').nullable().optional(),
  active: Active.describe('Whether keys may be issued for it'),
  createdAt: InstantText,
  updatedAt: InstantText,
});
export type Product = z.output<typeof Product>;

export const ProductVersion = resource('ProductVersion', 'A release of a product', {
  id: shownId(VersionId),
  version: shown('Its name, unique in the product', '2.1'),
  description: z.string().nullable(),
  active: Active.describe('Whether licences may be given this version'),
  createdAt: InstantText,
});
export type ProductVersion = z.output<typeof ProductVersion>;

const ProductDetails = resource('ProductDetails', 'A product with its versions', {
  ...Product.shape,
  versions: z.array(ProductVersion).describe('Its versions, oldest first'),
});

const byId = z.object({ productId: ProductId });

const ProductName = Name.meta({ description: 'The name of the product', examples: ['Editor'] });

export const products = {
  /** Lists the products that the token may use, oldest first. Source: decision 0005. */
  list: endpoint('GET /product', 'product:read', {
    summary: 'List products',
    description: 'Lists the products that the token may use, oldest first: all of them, or one page.',
    query: z.object(pageFields),
    readsMany: true,
    reply: listReply('ListProductsResponse', 'products.list', Product),
    example: { page: '1' },
  }),

  /** Creates a product, active. Source: decisions 0005 and 0063. */
  create: endpoint('POST /product', 'product:write', {
    summary: 'Create a product',
    description:
      'Creates an active product. One that moves in from another system keeps its id, which applications in the field ' +
      'send. Not for a token that is limited to some products.',
    body: request('CreateProductRequest', {
      name: ProductName,
      id: ProductId.optional().describe('Its id elsewhere; absent: a new one'),
      slug: Slug.optional(),
    }),
    reply: acted('CreateProductResponse', 'products.create', Product, { status: 201 }),
    errors: ['productTaken', 'slugTaken'],
  }),

  /** Shows one product. Source: decision 0005. */
  get: endpoint('GET /product/by-id', 'product:read', {
    summary: 'Show a product with its versions',
    query: byId,
    reply: acted('GetProductResponse', 'products.get', ProductDetails),
    errors: ['productNotFound'],
  }),

  /** Renames a product, or makes it active or inactive. Source: decisions 0005 and 0049. */
  update: endpoint('PUT /product/by-id', 'product:write', {
    summary: 'Update a product',
    description: 'Changes what is given. An inactive product issues no keys; the keys it has go on working.',
    query: byId,
    body: changing('UpdateProductRequest', {
      name: ProductName.optional(),
      slug: Slug.nullish(),
      active: Active.optional().describe('Whether it may issue keys'),
    }),
    reply: acted('UpdateProductResponse', 'products.update', Product),
    example: { active: true },
    errors: ['productNotFound', 'slugTaken'],
  }),
};

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
