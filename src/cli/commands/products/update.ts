import { argument, command, flag, option } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { productFields } from '../../output/resource-fields.ts';
import { change, doneNote } from '../options.ts';

export const productsUpdate = command({
  path: 'products update',
  about: 'Renames a product, or stops or resumes the issue of its keys. What is not given stays as it is.',
  operation: 'products.update',
  arguments: { id: argument('<ID>', 'the product', { field: 'productId' }) },
  options: {
    name: option('--name <NAME>', 'its new name', { field: 'name' }),
    active: flag('--active', 'let it issue keys'),
    inactive: flag('--inactive', 'let it issue no more keys'),
    ...change,
  },
  fields: [...productFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm products update prod_… --name "Engine Pro 2"', 'a new name'],
    ['lkm products update prod_… --inactive', 'no more keys'],
  ],

  async run({ id, name, active, inactive }, context) {
    if (active && inactive) throw new UsageError('--active and --inactive contradict each other; give one of them');
    if (name === undefined && !active && !inactive) {
      throw new UsageError('nothing to change: give --name, --active or --inactive');
    }
    const changed = await context.change((client, call) =>
      client.products.update({ productId: id, name, active: active || inactive ? active : undefined }, call),
    );
    const { answer, idempotencyKey } = changed;
    return {
      kind: 'record',
      row: answer,
      data: { ...answer, idempotencyKey },
      quiet: [answer.id],
      idempotencyKey,
      notes: [doneNote(changed, `updated ${answer.id}`)],
    };
  },
});
