import type { Client } from '../../client/client.ts';
import { listAll } from '../../client/lists.ts';
import type { Customer } from '../../contract/customers.ts';
import { bulkOptions, chosenOnly, isBulk, resultFields } from '../bulk/options.ts';
import { change, command, type OptionSpec, option, required } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import { created, type Field, listOf } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { relative, thereAreMore, yesNo } from '../output/words.ts';
import { parseBoolean, parsePositive } from '../values/scalars.ts';

export const customerFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'email', cuts: true },
  { name: 'active', show: yesNo, drops: 2 },
  { name: 'createdAt', label: 'created', show: relative, drops: 1 },
  { name: 'updatedAt', shown: 'data' },
  { name: 'createdBy', shown: 'data' },
];

export const customersList = command({
  about: 'Lists the customers of the account, oldest first.',
  operation: 'customers.list',
  watchable: true,
  options: {
    email: option('--email <TEXT>', 'only those whose e-mail address contains this', { field: 'email' }),
    text: option('--text <WORDS>', 'only those with a word in name or address that begins so', { field: 'text' }),
    active: option('--active <true|false>', 'only those that are active, or only the others', {
      parse: parseBoolean,
      field: 'active',
    }),
    limit: option('--limit <N>', 'at most N, 1 or more', { parse: parsePositive }),
  },
  fields: customerFields,
  examples: [
    ['lkm customers list', 'all of them'],
    ['ID=$(lkm customers list --email it@ada.example -q)', 'the id behind an address'],
    ['lkm customers list --text ada --active true --limit 10', 'the first ten that are called so'],
    ['lkm customers list --fields id,email -o customers.csv', 'for a spreadsheet'],
  ],

  async run({ email, text, active, limit }, context) {
    const client = await context.client();
    const filters = { email, text, active };
    const found =
      limit === undefined ? (await client.customers.list(filters)).items : await some(client, filters, limit);
    const isFiltered = Object.values(filters).some((filter) => filter !== undefined);
    const notes: Note[] =
      limit === undefined || found.length <= limit ? [] : [{ tone: 'hint', text: thereAreMore(limit) }];
    const empty = isFiltered
      ? 'no customer fits; leave a filter out to see more'
      : 'no customers yet; lkm customers create makes one';
    return { ...listOf(found.slice(0, limit), empty), notes };
  },
});

/** At most `limit` + 1: the last one only says that there are more. */
async function some(client: Client, filters: CustomerFilters, limit: number): Promise<readonly Customer[]> {
  const found: Customer[] = [];
  const pageSize = Math.min(limit + 1, MAX_PAGE_SIZE);
  for await (const customer of listAll(client.customers.list, filters, { pageSize })) {
    found.push(customer);
    if (found.length > limit) break;
  }
  return found;
}

/** The longest page that the service gives. */
const MAX_PAGE_SIZE = 1_000;

interface CustomerFilters {
  readonly email: string | undefined;
  readonly text: string | undefined;
  readonly active: boolean | undefined;
}

const ownFields: readonly Field[] = [...customerFields, { name: 'idempotencyKey', shown: 'chosen' }];

const name: OptionSpec<string | undefined> = {
  ...required('--name <NAME>', 'its name', { field: 'name' }),
  neededUnless: 'file',
};

export const customersCreate = command({
  about: 'Creates a customer and prints its id, or with -f one for each row of a file (name, email).',
  operation: 'customers.create',
  options: {
    name,
    email: option('--email <EMAIL>', 'its e-mail address, unique in the account', { field: 'email' }),
    ...bulkOptions,
    ...change,
  },
  fields: [...ownFields, ...chosenOnly(resultFields([]), ownFields)],
  ownsOutput: isBulk,
  examples: [
    ['lkm customers create --name "Ada Ltd" --email it@ada.example', 'a customer with an address'],
    ['ID=$(lkm customers create --name "Ada Ltd")', 'keep its id'],
    ['lkm customers create -f customers.csv -o ids.csv', 'one for each row'],
  ],

  async run({ name = '', email, ...bulk }, context) {
    if (bulk.file !== undefined) {
      if (name !== '' || email !== undefined)
        throw new UsageError('--name and --email are of one customer: leave them out');
      const { createCustomersInBulk } = await import('../bulk/operations/create-customers.ts');
      return createCustomersInBulk(context, bulk);
    }
    return created(await context.change((client, call) => client.customers.create({ name, email }, call)));
  },
});

export const customersImport = command({
  about: 'Creates a customer for each row of a file (name, email): the same as customers create -f.',
  options: { ...bulkOptions, ...change },
  fields: resultFields([{ name: 'name' }, { name: 'email' }, { name: 'id' }]),
  ownsOutput: () => true,
  examples: [['lkm customers import -f customers.csv', 'one for each row']],

  async run(values, context) {
    if (values.file === undefined) throw new UsageError('-f is required', [['Give it:', '-f FILE, or - for stdin']]);
    const { createCustomersInBulk } = await import('../bulk/operations/create-customers.ts');
    return createCustomersInBulk(context, values);
  },
});
