import { listAll } from '../../client/lists.ts';
import type { ListedLicense } from '../../contract/keys/lists.ts';
import { argument, change, command, customerArgument, flag, option } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import { doneNote } from '../output/terminal.ts';
import { findCustomerByEmail } from '../request/customer-by-email.ts';
import { parsePositive } from '../values/scalars.ts';
import { customerFields } from './customers.ts';
import { ifUpdatedAt } from './keys/changed.ts';
import { listedFields, listOfKeys } from './keys/list.ts';

export const customersGet = command({
  about: 'Shows one customer.',
  operation: 'customers.get',
  watchable: true,
  arguments: {
    customer: argument('<ID|EMAIL>', 'the customer, by its id or its e-mail address', { pick: 'customer' }),
  },
  fields: customerFields,
  examples: [
    ['lkm customers get cus_…', 'by id'],
    ['lkm customers get it@ada.example --json', 'by address, for a program'],
  ],

  async run({ customer: name }, context) {
    const client = await context.client();
    const isEmail = name.includes('@');
    const customer = await (isEmail ? findCustomerByEmail(client, name) : client.customers.get({ customerId: name }));
    return { kind: 'record', row: customer, data: customer, quiet: [customer.id] };
  },
});

export const customersUpdate = command({
  about:
    'Renames a customer, changes its e-mail address, or stops or resumes its keys. What is not given stays as it is.',
  operation: 'customers.update',
  arguments: { id: customerArgument },
  options: {
    name: option('--name <NAME>', 'its new name', { field: 'name' }),
    email: option('--email <EMAIL>', 'its new e-mail address', { field: 'email' }),
    clearEmail: flag('--clear-email', 'leave it without an e-mail address'),
    active: flag('--active', 'let its keys be used'),
    inactive: flag('--inactive', 'let its keys be used no more'),
    ifUpdatedAt,
    ...change,
  },
  fields: [...customerFields, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [
    ['lkm customers update cus_… --email it@ada.example', 'a new address'],
    ['lkm customers update cus_… --inactive', 'its keys rest'],
  ],

  async run({ id, name, email, clearEmail, active, inactive, ifUpdatedAt }, context) {
    if (active && inactive) throw new UsageError('--active and --inactive contradict each other; give one of them');
    if (clearEmail && email !== undefined) throw new UsageError('--email and --clear-email contradict each other');
    if (name === undefined && email === undefined && !clearEmail && !active && !inactive) {
      throw new UsageError('nothing to change: give --name, --email, --clear-email, --active or --inactive');
    }
    const changes = { name, email: clearEmail ? null : email, active: active || inactive ? active : undefined };
    const changed = await context.change((client, call) =>
      client.customers.update({ customerId: id, ...changes, ifUpdatedAt }, call),
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

export const customersKeys = command({
  about: 'Lists the keys of a customer, newest first.',
  operation: 'customers.keys',
  watchable: true,
  arguments: { id: customerArgument },
  options: { limit: option('--limit <N>', 'at most N, 1 or more', { parse: parsePositive }) },
  fields: listedFields,
  examples: [
    ['lkm customers keys cus_…', 'all of them'],
    ['lkm customers keys cus_… --fields key,status', 'and what is so of them'],
  ],

  async run({ id, limit }, context) {
    const client = await context.client();
    const found: ListedLicense[] = [];
    const pageSize = Math.min((limit ?? MAX_PAGE_SIZE) + 1, MAX_PAGE_SIZE);
    for await (const key of listAll(client.customers.keys, { customerId: id }, { pageSize })) {
      found.push(key);
      if (limit !== undefined && found.length > limit) break;
    }
    return listOfKeys(found, { limit, empty: 'this customer has no keys', now: context.io.now() });
  },
});

/** The longest page that the service gives. */
const MAX_PAGE_SIZE = 1_000;
