import type { Client } from '../../client/client.ts';
import { customers } from '../../contract/customers.ts';
import { bulkOptions, isBulk, orInBulk, restartOption } from '../bulk/options.ts';
import type { BulkRequest } from '../bulk/request.ts';
import { argument, change, command, type Declaration, flag, option, required, yes } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import type { Field } from '../output/result.ts';
import { moment, relative, yesNo } from '../output/words.ts';
import { unlessRefused } from '../request/look-ups.ts';
import { parseSeconds } from '../values/duration.ts';
import { parseBoolean } from '../values/scalars.ts';
import { changeEach, type Description } from './change-each.ts';
import { changeCommand, customerArgument, ifUpdatedAt, limit, readCommand } from './forms.ts';
import { listedFields, listOfKeys } from './keys/list.ts';
import { created, doneTo, fieldsShown, firstOf, issued, listOf, recordOf, updated } from './results.ts';

const customerFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'email', cuts: true },
  { name: 'active', show: yesNo, drops: 2 },
  { name: 'createdAt', label: 'created', show: relative, drops: 1 },
  ...fieldsShown('data', 'updatedAt', 'createdBy'),
];

export const customersList = readCommand({
  about: 'Lists the customers of the account, oldest first.',
  operation: 'customers.list',
  options: {
    email: option('--email <TEXT>', 'only those whose e-mail address contains this'),
    text: option('--text <WORDS>', 'only those with these words, or parts of words, in name or address'),
    active: option('--active <true|false>', 'only active or only inactive customers', parseBoolean),
    limit,
  },
  fields: customerFields,
  examples: [
    ['lkm customers list', 'all of them'],
    ['ID=$(lkm customers list --email it@ada.example -q)', 'the id behind an address'],
    ['lkm customers list --text ada --active true --limit 10', 'the first ten that are called so'],
  ],

  async read(client, { limit, ...filters }) {
    const { items, notes } =
      limit === undefined
        ? { ...(await client.customers.list(filters)), notes: [] }
        : await firstOf((partSize) => client.customers.list({ ...filters, limit: partSize }), limit);
    const isFiltered = Object.values(filters).some((filter) => filter !== undefined);
    const empty = isFiltered
      ? 'no customer fits; leave a filter out to see more'
      : 'no customers yet; lkm customers create makes one';
    return listOf(items, empty, { notes });
  },
});

export const customersGet = readCommand({
  about:
    'Shows one customer; on a terminal with its keys, their devices and what happened last. With --json it is the customer ' +
    'alone.',
  operation: 'customers.get',
  arguments: { customer: customerArgument },
  fields: customerFields,
  examples: [
    ['lkm customers get "Ada Ltd"', 'by name'],
    ['lkm customers get it@ada.example --json', 'by address, for a program'],
  ],
  alsoNeeds: { 'license:read': 'for the keys and devices', 'event:read': 'for what happened last' },

  async read(client, { customer: customerId }, { io, settings }) {
    const shown = recordOf(await client.customers.get({ customerId }));
    const { partsOfCustomer } = await import('./customer.ts');
    const isTable = settings.fileFormat === 'table' && settings.fields === null;
    return { ...shown, parts: isTable ? await partsOfCustomer(client, customerId, io.now()) : [] };
  },
});

const createOne = changeCommand({
  about: 'Creates a customer and prints its id, or with -f one for each row of a file (name, email).',
  operation: 'customers.create',
  arguments: { givenName: argument('[NAME]', 'its name, in place of --name', { field: 'name' }) },
  options: {
    name: required('--name <NAME>', 'its name', { neededUnless: ['givenName', 'file'] }),
    email: option('--email <EMAIL>', 'its e-mail address, unique in the account'),
    ...bulkOptions,
    restart: restartOption,
  },
  fields: customerFields,
  examples: [
    ['ID=$(lkm customers create "Ada Ltd" --email it@ada.example)', 'keep its id'],
    ['lkm customers create -f customers.csv -o ids.csv', 'one for each row'],
  ],
  outcome: (customer) => created(customer, customer.name),
});

export const customersCreate: Declaration = {
  ...createOne,
  ...orInBulk(createOne.fields),
  async run(values, context) {
    if (!isBulk(context.written)) return createOne.run(values, context);
    if ([values.givenName, values.name, values.email].some((value) => value !== undefined))
      throw new UsageError('--name and --email are for one customer: leave them out');
    const { createCustomers } = await import('../bulk/operations/create-customers.ts');
    const { runBulk } = await import('../bulk/run-bulk.ts');
    return runBulk(context, createCustomers, { ...(values as Omit<BulkRequest, 'defaults'>), defaults: {} });
  },
};

export const customersUpdate = changeCommand({
  about:
    'Renames a customer, changes its e-mail address, or stops or resumes its keys. What is not given stays as it is.',
  operation: 'customers.update',
  arguments: { id: customerArgument },
  options: {
    name: option('--name <NAME>', 'its new name'),
    email: option('--email <EMAIL>', 'its new e-mail address'),
    clearEmail: flag('--clear-email', 'leave it without an e-mail address', { field: 'email', means: null }),
    active: flag('--active', 'let its keys be used'),
    inactive: flag('--inactive', 'let its keys be used no more', { field: 'active', means: false }),
    ifUpdatedAt,
  },
  fields: customerFields,
  examples: [
    ['lkm customers update cus_… --email it@ada.example', 'a new address'],
    ['lkm customers update cus_… --inactive', 'its keys rest'],
  ],
  outcome: updated,
});

export const customersKeys = readCommand({
  about: 'Lists the keys of a customer, newest first.',
  operation: 'customers.keys',
  arguments: { id: customerArgument },
  options: { limit },
  fields: listedFields,
  examples: [['lkm customers keys cus_…', 'all of them']],

  async read(client, { id, limit }, context) {
    const found = await firstOf((partSize) => client.customers.keys({ customerId: id, limit: partSize }), limit);
    return listOfKeys(found, 'this customer has no keys', context);
  },
});

export const customersLink = changeCommand({
  about:
    'Makes a link to a page on which a customer sees its keys and their devices, and frees devices. Whoever has the link can do ' +
    'that until it expires.',
  operation: 'customers.link',
  arguments: { customer: customerArgument },
  options: { expiresIn: option('--expires-in <DUR>', 'how long it works, 1m to 7d (1h)', parseSeconds) },
  fields: ['url', 'expiresAt'],
  examples: [
    ['lkm customers link it@ada.example', 'for an hour'],
    ['lkm customers link cus_… --expires-in 7d', 'for a week'],
  ],
  outcome: (link) => issued(link.url, link, `made a link that works until ${moment(link.expiresAt)}`),
});

export const customersUnlink = changeCommand({
  about: 'Ends all links to the page of a customer.',
  operation: 'customers.unlink',
  arguments: { customer: customerArgument },
  fields: ['id', 'unlinked'],
  examples: [['lkm customers unlink it@ada.example', 'a link reached the wrong person']],
  outcome: (_, { customer: id }) => doneTo(id, { id, unlinked: true }, `ended the links of ${id}`),
});

export const customersDelete = command({
  about:
    'Deletes customers for ever. Their keys stay valid, without a customer; those of an inactive customer are blocked.',
  operation: 'customers.delete',
  arguments: {
    ids: argument('<ID|EMAIL|NAME...>', 'the customers, by their ids, e-mail addresses or whole names', {
      field: 'customerId',
      takesName: 'orId',
    }),
  },
  options: {
    confirm: option('--confirm <ID|EMAIL|NAME>', 'the customer once more, instead of typing it when asked', {
      field: 'customerId',
      takesName: 'orId',
    }),
    yes,
    ...change,
  },
  fields: ['id', 'deleted', 'error', { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm customers delete "Ada Ltd"', 'shows the customer and asks for its id or name'],
    ['lkm customers delete cus_… --confirm cus_…', 'in a script'],
  ],

  async run({ ids, confirm, yes }, context) {
    if (confirm !== undefined && ids.join() !== confirm) {
      throw new UsageError(`--confirm ${confirm} is not the one customer to delete`, ['Nothing was sent.']);
    }
    return changeEach(context, {
      ...{ noun: 'customer', done: 'deleted', ids, nameOf: String },
      changeOf: async (customerId) => ({ endpoint: customers.delete, input: { customerId } }),
      columns: ['id', 'deleted'],
      ...(!yes && confirm === undefined && { describe: describeCustomer }),
      confirmFlag: (id) => (ids.length === 1 ? `--confirm ${id}` : '--yes'),
    });
  },
});

/** The customer, and the number of its keys if the token may see them. */
async function describeCustomer(client: Client, customerId: string): Promise<Description> {
  const customer = await unlessRefused('customerNotFound', client.customers.get({ customerId }));
  if (customer === null) return { lines: ['no customer that the service knows'] };
  const { name, email, active } = customer;
  const found = await unlessRefused('scopeMissing', client.customers.keys({ customerId, limit: 1 }));
  const total = found?.meta.total ?? 0;
  const keys = active
    ? `keys that lose their customer: ${total}`
    : `keys that are blocked, as it is inactive: ${total}`;
  return { lines: [`${name}${email === null ? '' : ` <${email}>`}`, ...(total === 0 ? [] : [keys])], name };
}
