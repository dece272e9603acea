import { command } from '../../command.ts';
import { productFields } from '../../output/resource-fields.ts';

export const productsList = command({
  path: 'products list',
  about: 'Lists the products of the account, oldest first.',
  operation: 'products.list',
  arguments: {},
  options: {},
  fields: productFields,
  examples: [
    ['lkm products list', 'all of them'],
    ['lkm products list --json', 'for a program'],
  ],

  async run(_, context) {
    const client = await context.client();
    const { items: products } = await client.products.list();
    return {
      kind: 'rows',
      rows: products,
      data: products,
      quiet: products.map(({ id }) => id),
      empty: 'no products yet; lkm products create makes one',
    };
  },
});
