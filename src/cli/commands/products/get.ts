import { argument, command } from '../../command.ts';
import { productFields } from '../../output/resource-fields.ts';

export const productsGet = command({
  path: 'products get',
  about: 'Shows one product.',
  operation: 'products.get',
  arguments: { id: argument('<ID>', 'the product', { field: 'productId' }) },
  options: {},
  fields: productFields,
  examples: [['lkm products get prod_…', 'one product']],

  async run({ id }, context) {
    const client = await context.client();
    const product = await client.products.get({ productId: id });
    return { kind: 'record', row: product, data: product, quiet: [product.id] };
  },
});
