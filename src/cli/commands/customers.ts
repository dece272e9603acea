import { listAll } from '../../client/lists.ts';
import { bulkOptions, chosenOnly, isBulk, resultFields } from '../bulk/options.ts';
import { argument, change, command, customerArgument, flag, type OptionSpec, option, required } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import type { Field } from '../output/result.ts';
import { relative, yesNo } from '../output/words.ts';
import { findCustomerByEmail } from '../request/look-ups.ts';
import { parseBoolean } from '../values/scalars.ts';
import { changeCommand, contradiction, either, ifUpdatedAt, limit, readCommand } from './forms.ts';
import { listedFields, listOfKeys } from './keys/list.ts';
import { created, fieldsShown, firstOf, listOf, recordOf, updated } from './results.ts';

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
    email: option('--email <TEXT>', 'only those whose e-mail address contains this', { field: 'email' }),
    text: option('--text <WORDS>', 'only those with a word in name or address that begins so', { field: 'text' }),
    active: option('--active <true|false>', 'only those that are active, or only the others', {
      parse: parseBoolean,
      field: 'active',
    }),
    limit,
  },
  fields: customerFields,
  examples: [
    ['lkm customers list', 'all of them'],
    ['ID=$(lkm customers list --email it@ada.example -q)', 'the id behind an address'],
    ['lkm customers list --text ada --active true --limit 10', 'the first ten that are called so'],
    ['lkm customers list --fields id,email -o customers.csv', 'for a spreadsheet'],
  ],

  async read(client, { limit, ...filters }) {
    const { items, notes } =
      limit === undefined
        ? { ...(await client.customers.list(filters)), notes: [] }
        : await firstOf((pages) => listAll(client.customers.list, filters, pages), limit);
    const isFiltered = Object.values(filters).some((filter) => filter !== undefined);
    const empty = isFiltered
      ? 'no customer fits; leave a filter out to see more'
      : 'no customers yet; lkm customers create makes one';
    return listOf(items, empty, { notes });
  },
});

export const customersGet = readCommand({
  about: 'Shows one customer.',
  operation: 'customers.get',
  arguments: {
    customer: argument('<ID|EMAIL>', 'the customer, by its id or its e-mail address', { pick: 'customer' }),
  },
  fields: customerFields,
  examples: [
    ['lkm customers get cus_…', 'by id'],
    ['lkm customers get it@ada.example --json', 'by address, for a program'],
  ],

  async read(client, { customer: name }) {
    const isEmail = name.includes('@');
    return recordOf(await (isEmail ? findCustomerByEmail(client, name) : client.customers.get({ customerId: name })));
  },
});

const name: OptionSpec<string | undefined> = {
  ...required('--name <NAME>', 'its name', { field: 'name' }),
  neededUnless: 'file',
};

export const customersCreate = changeCommand({
  about: 'Creates a customer and prints its id, or with -f one for each row of a file (name, email).',
  operation: 'customers.create',
  options: {
    name,
    email: option('--email <EMAIL>', 'its e-mail address, unique in the account', { field: 'email' }),
    ...bulkOptions,
  },
  fields: [...customerFields, ...chosenOnly(resultFields([]), customerFields)],
  ownsOutput: isBulk,
  examples: [
    ['lkm customers create --name "Ada Ltd" --email it@ada.example', 'a customer with an address'],
    ['ID=$(lkm customers create --name "Ada Ltd")', 'keep its id'],
    ['lkm customers create -f customers.csv -o ids.csv', 'one for each row'],
  ],

  async inBulk({ name, email, ...bulk }, context) {
    if (name !== undefined || email !== undefined)
      throw new UsageError('--name and --email are of one customer: leave them out');
    const { createCustomersInBulk } = await import('../bulk/operations/changes.ts');
    return createCustomersInBulk(context, bulk);
  },

  outcome: (customer) => created(customer, customer.name),
});

export const customersImport = command({
  about: 'Creates a customer for each row of a file (name, email): the same as customers create -f.',
  options: { ...bulkOptions, ...change },
  fields: resultFields([{ name: 'name' }, { name: 'email' }, { name: 'id' }]),
  ownsOutput: () => true,
  examples: [['lkm customers import -f customers.csv', 'one for each row']],

  async run(values, context) {
    if (values.file === undefined) throw new UsageError('-f is required', [['Give it:', '-f FILE, or - for stdin']]);
    const { createCustomersInBulk } = await import('../bulk/operations/changes.ts');
    return createCustomersInBulk(context, values);
  },
});

export const customersUpdate = changeCommand({
  about:
    'Renames a customer, changes its e-mail address, or stops or resumes its keys. What is not given stays as it is.',
  operation: 'customers.update',
  isUpdate: true,
  arguments: { id: customerArgument },
  options: {
    name: option('--name <NAME>', 'its new name', { field: 'name' }),
    email: option('--email <EMAIL>', 'its new e-mail address', { field: 'email' }),
    clearEmail: flag('--clear-email', 'leave it without an e-mail address'),
    active: flag('--active', 'let its keys be used'),
    inactive: flag('--inactive', 'let its keys be used no more'),
    ifUpdatedAt,
  },
  fields: customerFields,
  examples: [
    ['lkm customers update cus_… --email it@ada.example', 'a new address'],
    ['lkm customers update cus_… --inactive', 'its keys rest'],
  ],

  prepare({ email, clearEmail, ...flags }) {
    if (clearEmail && email !== undefined) throw contradiction('email', 'clear-email');
    return { active: either(flags, 'active', 'inactive'), ...(clearEmail && { email: null }) };
  },
  outcome: updated,
});

export const customersKeys = readCommand({
  about: 'Lists the keys of a customer, newest first.',
  operation: 'customers.keys',
  arguments: { id: customerArgument },
  options: { limit },
  fields: listedFields,
  examples: [
    ['lkm customers keys cus_…', 'all of them'],
    ['lkm customers keys cus_… --fields key,status', 'and what is so of them'],
  ],

  async read(client, { id, limit }, { io }) {
    const found = await firstOf((pages) => listAll(client.customers.keys, { customerId: id }, pages), limit);
    return listOfKeys(found, 'this customer has no keys', io.now());
  },
});
