import { command, required } from '../../command.ts';
import { productFields } from '../../output/product-fields.ts';
import { change } from '../options.ts';

export const productsCreate = command({
  path: 'products create',
  about: 'Creates a product. It is active, so it can issue keys at once.',
  operation: 'products.create',
  arguments: {},
  options: { name: required('--name <NAME>', 'its name', { field: 'name' }), ...change },
  fields: [...productFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm products create --name "Engine Pro"', 'a new product'],
    ['ID=$(lkm products create --name "Engine Pro" -q)', 'its id alone'],
  ],

  async run({ name }, context) {
    const { answer, idempotencyKey } = await context.change((client, call) => client.products.create({ name }, call));
    return {
      kind: 'record',
      row: answer,
      data: { ...answer, idempotencyKey },
      quiet: [answer.id],
      idempotencyKey,
      notes: [{ tone: 'done', text: `created ${answer.id}` }],
    };
  },
});
