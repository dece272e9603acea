import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { acted } from './reply.ts';
import { InstantText, Name, ProductId } from './scalars.ts';

/** A software title that is distributed. Only active products issue keys. */
export const Product = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    active: z.boolean(),
    createdAt: InstantText,
    updatedAt: InstantText,
  })
  .meta({ id: 'Product' });
export type Product = z.output<typeof Product>;

const byId = z.object({ productId: ProductId });

export const products = {
  /** Lists all products of the account, oldest first. */
  list: endpoint({
    summary: 'List all products',
    method: 'GET',
    path: '/product',
    scope: 'product:read',
    reply: acted('products.list', z.array(Product)),
    errors: [],
    source: 'decision 0005',
  }),

  /** Creates a product, active. */
  create: endpoint({
    summary: 'Create a product',
    method: 'POST',
    path: '/product',
    scope: 'product:write',
    body: z.object({ name: Name }),
    reply: acted('products.create', Product, 201),
    errors: [],
    source: 'decision 0005',
  }),

  /** Shows one product. */
  get: endpoint({
    summary: 'Show a product',
    method: 'GET',
    path: '/product/by-id',
    scope: 'product:read',
    query: byId,
    reply: acted('products.get', Product),
    errors: ['productNotFound'],
    source: 'decision 0005',
  }),

  /** Renames a product, or makes it active or inactive; what is not given stays as it is. */
  update: endpoint({
    summary: 'Update a product',
    method: 'PUT',
    path: '/product/by-id',
    scope: 'product:write',
    query: byId,
    body: z
      .object({ name: Name.optional(), active: z.boolean().optional() })
      .refine((changes) => changes.name !== undefined || changes.active !== undefined, 'name or active is required'),
    reply: acted('products.update', Product),
    errors: ['productNotFound'],
    source: 'decision 0005',
  }),
};
