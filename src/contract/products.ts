import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { changing, pageFields } from './fields.ts';
import { examples } from './openapi/examples.ts';
import { acted, actedList } from './reply.ts';
import { IfUpdatedAt, InstantText, Name, ProductId } from './scalars.ts';

/** A software title that is distributed. Only active products issue keys. */
export const Product = z
  .looseObject({
    id: z.string().meta({ description: 'Identifier of the product', examples: [examples.product.id] }),
    name: z.string().meta({ examples: [examples.product.name] }),
    active: z.boolean().describe('Whether keys may be issued for it'),
    createdAt: InstantText,
    updatedAt: InstantText,
  })
  .meta({ id: 'Product', description: 'A software title that is distributed' });
export type Product = z.output<typeof Product>;

/** A release of a product, which licences may be for. */
export const ProductVersion = z
  .looseObject({
    id: z.string().meta({ description: 'Identifier of the version', examples: [examples.version.id] }),
    version: z.string().meta({ description: 'Its name, unique in the product', examples: [examples.version.version] }),
    description: z.string().nullable(),
    active: z.boolean().describe('Whether licences may be given this version'),
    createdAt: InstantText,
  })
  .meta({ id: 'ProductVersion', description: 'A release of a product' });
export type ProductVersion = z.output<typeof ProductVersion>;

const ProductDetails = z
  .looseObject({ ...Product.shape, versions: z.array(ProductVersion).describe('Its versions, oldest first') })
  .meta({ id: 'ProductDetails', description: 'A product with its versions' });

const byId = z.object({ productId: ProductId });

const ProductName = Name.meta({ description: 'The name of the product', examples: [examples.product.name] });

/** The operations on products. */
export const products = {
  /** Lists the products that the token may use, oldest first; all of them unless a page is asked for. */
  list: endpoint({
    summary: 'List products',
    description:
      'Lists the products that the token may use, oldest first. Without `page` and `limit` the list is complete; ' +
      'with one of them it is one page, and `meta` says where that stands.',
    method: 'GET',
    path: '/product',
    scope: 'product:read',
    query: z.object(pageFields),
    reply: actedList('ListProductsResponse', 'products.list', Product),
    example: { query: { page: '1' }, reply: { items: [examples.product], meta: examples.page } },
    errors: [],
    source: 'decisions 0005 and 0022',
  }),

  /** Creates a product, active. */
  create: endpoint({
    summary: 'Create a product',
    description:
      'Creates an active product. A token that is limited to some products cannot create another. A product that moves in ' +
      'from another system keeps its id, which applications in the field send.',
    method: 'POST',
    path: '/product',
    scope: 'product:write',
    body: z
      .object({ name: ProductName, id: ProductId.optional().describe('Its id elsewhere; absent: a new one') })
      .meta({ id: 'CreateProductRequest' }),
    reply: acted('CreateProductResponse', 'products.create', Product, 201),
    example: { body: { name: 'Editor' }, reply: examples.product },
    errors: ['productTaken'],
    source: 'decisions 0005 and 0063',
  }),

  /** Shows one product. */
  get: endpoint({
    summary: 'Show a product',
    description: 'Shows one product with its versions.',
    method: 'GET',
    path: '/product/by-id',
    scope: 'product:read',
    query: byId,
    reply: acted('GetProductResponse', 'products.get', ProductDetails),
    example: {
      query: { productId: examples.product.id },
      reply: { ...examples.product, versions: [examples.version] },
    },
    errors: ['productNotFound'],
    source: 'decision 0005',
  }),

  /** Renames a product, or makes it active or inactive; what is not given stays as it is. */
  update: endpoint({
    summary: 'Update a product',
    description:
      'Renames a product, or makes it active or inactive. An inactive product issues no keys; the keys it has go on ' +
      'working. What is not given stays as it is.',
    method: 'PUT',
    path: '/product/by-id',
    scope: 'product:write',
    query: byId,
    body: changing('UpdateProductRequest', ['name', 'active'], {
      name: ProductName.optional(),
      active: z.boolean().optional().describe('Whether it may issue keys'),
      ifUpdatedAt: IfUpdatedAt,
    }),
    reply: acted('UpdateProductResponse', 'products.update', Product),
    example: {
      query: { productId: examples.product.id },
      body: { active: false },
      reply: { ...examples.product, active: false },
    },
    errors: ['productNotFound', 'stale'],
    source: 'decisions 0005 and 0049',
  }),
};
