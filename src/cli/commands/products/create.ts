import { command, required } from '../../command.ts';
import { productFields } from '../../output/resource-fields.ts';
import { change, doneNote } from '../options.ts';

export const productsCreate = command({
  path: 'products create',
  about: 'Creates a product and prints its id. It is active, so it can issue keys at once.',
  operation: 'products.create',
  arguments: {},
  options: { name: required('--name <NAME>', 'its name', { field: 'name' }), ...change },
  fields: [...productFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm products create --name "Engine Pro"', 'a new product'],
    ['ID=$(lkm products create --name "Engine Pro")', 'keep its id'],
    ['lkm products create --name "Engine Pro" --json', 'the whole product'],
  ],

  async run({ name }, context) {
    const changed = await context.change((client, call) => client.products.create({ name }, call));
    const { answer, idempotencyKey } = changed;
    return {
      kind: 'value',
      value: answer.id,
      data: { ...answer, idempotencyKey },
      quiet: [answer.id],
      idempotencyKey,
      notes: [doneNote(changed, `created ${answer.name}`)],
    };
  },
});
