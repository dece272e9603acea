import { argument, flag, option, productOption, required } from '../command.ts';
import type { CommandContext } from '../context.ts';
import type { Field } from '../output/result.ts';
import { EMPTY_CELL, relative, yesNo } from '../output/words.ts';
import { confirm } from '../prompts/questions.ts';
import { matching, unlessRefused } from '../request/look-ups.ts';
import { objects } from '../request/named-objects.ts';
import { textOrNone } from '../values/scalars.ts';
import { changeCommand, showCommand } from './forms.ts';
import { created, fieldsShown, listOf, recordOf, updated } from './results.ts';

const productFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'slug', show: (slug) => String(slug ?? EMPTY_CELL), drops: 3 },
  { name: 'active', show: yesNo, drops: 2 },
  { name: 'createdAt', label: 'created', show: relative, drops: 1 },
  ...fieldsShown('data', 'updatedAt'),
];

const versionFields: readonly Field[] = [
  { name: 'id' },
  { name: 'version', cuts: true },
  { name: 'description', cuts: true, drops: 1 },
  { name: 'active', show: yesNo },
  { name: 'createdAt', label: 'created', show: relative, drops: 2 },
];

const id = argument('<ID>', 'the product', { field: 'productId', pick: 'product' });

export const productsList = showCommand({
  about: 'Lists the products of the account, oldest first.',
  operation: 'products.list',
  fields: productFields,
  examples: [['lkm products list', 'all of them']],
  show: ({ items }) => listOf(items, 'no products yet; lkm products create makes one'),
});

export const productsGet = showCommand({
  about: 'Shows one product.',
  operation: 'products.get',
  arguments: { id },
  fields: productFields,
  examples: [['lkm products get prod_…', 'one product']],
  show: recordOf,
});

export const productsCreate = changeCommand({
  about: 'Creates a product and prints its id. It is active, so it can issue keys at once.',
  operation: 'products.create',
  arguments: { givenName: argument('[NAME]', 'its name, in place of --name', { field: 'name' }) },
  options: {
    name: required('--name <NAME>', 'its name', { neededUnless: 'givenName' }),
    slug: option('--slug <SLUG>', 'a short name for scripts, as engine-pro'),
    id: option('--id <ID>', 'its id elsewhere; a new id unless given'),
    allowSameName: flag('--allow-same-name', 'do not ask when a product is called so already'),
  },
  fields: productFields,
  examples: [
    ['ID=$(lkm products create "Engine Pro")', 'a new product, and keep its id'],
    [
      'lkm products create --name "Engine Pro" --id acme-engine-pro-2019-0001',
      'a product that keeps its id from elsewhere',
    ],
  ],
  async prepare({ givenName, name = givenName, allowSameName, dryRun }, context) {
    if (name !== undefined && !allowSameName && !dryRun) await askForSameName(name, context);
    return undefined;
  },
  outcome: (product) => created(product, product.name),
});

/** Asks before creating a second product with a name: commands could then take neither by its name. */
async function askForSameName(name: string, context: CommandContext): Promise<void> {
  const client = await context.client();
  const products = await unlessRefused('scopeMissing', objects.product.list(client, {}));
  const [known] = matching(name, products ?? []);
  if (known === undefined || (await isRepeated(name, context))) return;
  await confirm(context, {
    about: [`${known.id} is called ${known.name} already; commands then take both by their ids only`],
    question: 'make a second one?',
    action: `making a second product called '${name}'`,
    flag: '--allow-same-name',
  });
}

/** Whether this repeats a request that may have created the product with the name. */
async function isRepeated(name: string, { written, pending }: CommandContext): Promise<boolean> {
  if (written.idempotencyKey !== undefined) return true;
  const changes = (await pending()).list().map(({ value }) => value);
  return changes.some(({ path, body }) => path === '/product' && JSON.parse(body ?? '{}').name === name);
}

export const productsUpdate = changeCommand({
  about: 'Renames a product, or stops or resumes the issue of its keys. What is not given stays as it is.',
  operation: 'products.update',
  arguments: { id },
  options: {
    name: option('--name <NAME>', 'its new name'),
    slug: option('--slug <SLUG|none>', 'a short name for scripts, as engine-pro', textOrNone),
    active: flag('--active', 'let it issue keys'),
    inactive: flag('--inactive', 'let it issue no more keys', { field: 'active', means: false }),
  },
  fields: productFields,
  examples: [
    ['lkm products update prod_… --name "Engine Pro 2"', 'a new name'],
    ['lkm products update prod_… --inactive', 'no more keys'],
  ],
  outcome: updated,
});

export const productsVersions = showCommand({
  about: 'Lists the versions of a product, oldest first.',
  operation: 'products.get',
  arguments: { id },
  fields: versionFields,
  examples: [['lkm products versions prod_…', 'all of them']],
  show: ({ versions }) => listOf(versions, 'no versions yet; lkm products add-version makes one'),
});

export const productsAddVersion = changeCommand({
  about: 'Adds a version to a product and prints its id. It is active: keys can be given it at once.',
  operation: 'products.createVersion',
  arguments: { id, version: argument('<VERSION>', 'the name of the version') },
  options: { description: option('--description <TEXT>', 'what is new in it') },
  fields: versionFields,
  examples: [['lkm products add-version prod_… 2.1', 'a new version']],
  outcome: (version) => created(version, `version ${version.version}`),
});

export const productsUpdateVersion = changeCommand({
  about: 'Lets a version be given to keys, or to no more keys. Keys that have it keep it.',
  operation: 'products.updateVersion',
  arguments: { id: argument('<ID>', 'the version, by its id', { field: 'versionId' }) },
  options: {
    active: flag('--active', 'let it be given to keys'),
    inactive: flag('--inactive', 'let it be given to no more keys', { field: 'active', means: false }),
    product: productOption('its product; for tokens of some products only'),
  },
  fields: versionFields,
  examples: [['lkm products update-version ver_… --inactive', 'an old version']],
  outcome: updated,
});
