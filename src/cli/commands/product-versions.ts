import type { ProductVersion } from '../../contract/products.ts';
import { argument, change, command, flag, option } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import { created, type Field, listOf } from '../output/result.ts';
import { doneNote } from '../output/terminal.ts';
import { relative, yesNo } from '../output/words.ts';

export const versionFields: readonly Field<ProductVersion>[] = [
  { name: 'id' },
  { name: 'version', cuts: true },
  { name: 'description', cuts: true, drops: 1 },
  { name: 'active', show: yesNo },
  { name: 'createdAt', label: 'created', show: relative, drops: 2 },
];

export const productsVersions = command({
  about: 'Lists the versions of a product, oldest first.',
  operation: 'products.get',
  watchable: true,
  arguments: { id: argument('<ID>', 'the product', { field: 'productId', pick: 'product' }) },
  fields: versionFields,
  examples: [['lkm products versions prod_…', 'all of them']],

  async run({ id }, context) {
    const client = await context.client();
    const { versions } = await client.products.get({ productId: id });
    return listOf(versions, 'no versions yet; lkm products add-version makes one');
  },
});

export const productsAddVersion = command({
  about: 'Adds a version to a product and prints its id. It is active: keys can be given it at once.',
  operation: 'products.createVersion',
  arguments: {
    id: argument('<ID>', 'the product', { field: 'productId', pick: 'product' }),
    version: argument('<VERSION>', 'the name of the version', { field: 'version' }),
  },
  options: {
    description: option('--description <TEXT>', 'what is new in it', { field: 'description' }),
    ...change,
  },
  fields: [...versionFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [['lkm products add-version prod_… 2.1', 'a new version']],

  async run({ id, version, description }, context) {
    const changed = await context.change((client, call) =>
      client.products.createVersion({ productId: id, version, description }, call),
    );
    return created({ ...changed, answer: { ...changed.answer, name: `version ${changed.answer.version}` } });
  },
});

export const productsUpdateVersion = command({
  about: 'Lets a version be given to keys, or to no more keys. Keys that have it keep it.',
  operation: 'products.updateVersion',
  arguments: { id: argument('<ID>', 'the version, by its id', { field: 'versionId' }) },
  options: {
    active: flag('--active', 'let it be given to keys'),
    inactive: flag('--inactive', 'let it be given to no more keys'),
    product: option('-P, --product <ID>', 'its product; for tokens of some products only', {
      env: 'LKM_PRODUCT',
      field: 'productId',
    }),
    ...change,
  },
  fields: [...versionFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [['lkm products update-version ver_… --inactive', 'an old version']],

  async run({ id, active, inactive, product }, context) {
    if (active === inactive) throw new UsageError('give --active or --inactive');
    const changed = await context.change((client, call) =>
      client.products.updateVersion({ versionId: id, active, productId: product }, call),
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
