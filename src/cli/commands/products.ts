import { argument, change, command, flag, option, required } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import { created, type Field, listOf } from '../output/result.ts';
import { doneNote } from '../output/terminal.ts';
import { relative, yesNo } from '../output/words.ts';
import { ifUpdatedAt } from './keys/changed.ts';

const productFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'active', show: yesNo, drops: 2 },
  { name: 'createdAt', label: 'created', show: relative, drops: 1 },
  { name: 'updatedAt', shown: 'data' },
];

export const productsList = command({
  about: 'Lists the products of the account, oldest first.',
  operation: 'products.list',
  watchable: true,
  fields: productFields,
  examples: [
    ['lkm products list', 'all of them'],
    ['lkm products list --json', 'for a program'],
  ],

  async run(_, context) {
    const client = await context.client();
    const { items: products } = await client.products.list();
    return listOf(products, 'no products yet; lkm products create makes one');
  },
});

export const productsGet = command({
  about: 'Shows one product.',
  operation: 'products.get',
  watchable: true,
  arguments: { id: argument('<ID>', 'the product', { field: 'productId', pick: 'product' }) },
  fields: productFields,
  examples: [['lkm products get prod_…', 'one product']],

  async run({ id }, context) {
    const client = await context.client();
    const product = await client.products.get({ productId: id });
    return { kind: 'record', row: product, data: product, quiet: [product.id] };
  },
});

export const productsCreate = command({
  about: 'Creates a product and prints its id. It is active, so it can issue keys at once.',
  operation: 'products.create',
  options: {
    name: required('--name <NAME>', 'its name', { field: 'name' }),
    id: option('--id <ID>', 'the id that it had elsewhere; a new one unless given', { field: 'id' }),
    ...change,
  },
  fields: [...productFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm products create --name "Engine Pro"', 'a new product'],
    ['ID=$(lkm products create --name "Engine Pro")', 'keep its id'],
    ['lkm products create --name "Engine Pro" --id acme-engine-pro-2019-0001', 'one that moves in with its id'],
    ['lkm products create --name "Engine Pro" --json', 'the whole product'],
  ],

  async run({ name, id }, context) {
    return created(await context.change((client, call) => client.products.create({ name, id }, call)));
  },
});

export const productsUpdate = command({
  about: 'Renames a product, or stops or resumes the issue of its keys. What is not given stays as it is.',
  operation: 'products.update',
  arguments: { id: argument('<ID>', 'the product', { field: 'productId', pick: 'product' }) },
  options: {
    name: option('--name <NAME>', 'its new name', { field: 'name' }),
    active: flag('--active', 'let it issue keys'),
    inactive: flag('--inactive', 'let it issue no more keys'),
    ifUpdatedAt,
    ...change,
  },
  fields: [...productFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm products update prod_… --name "Engine Pro 2"', 'a new name'],
    ['lkm products update prod_… --inactive', 'no more keys'],
  ],

  async run({ id, name, active, inactive, ifUpdatedAt }, context) {
    if (active && inactive) throw new UsageError('--active and --inactive contradict each other; give one of them');
    if (name === undefined && !active && !inactive) {
      throw new UsageError('nothing to change: give --name, --active or --inactive');
    }
    const changed = await context.change((client, call) =>
      client.products.update(
        { productId: id, name, active: active || inactive ? active : undefined, ifUpdatedAt },
        call,
      ),
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
