import { command, option } from '../../command.ts';
import { customerFields } from '../../output/resource-fields.ts';
import { parsePositive } from '../../values/numbers.ts';

export const customersList = command({
  path: 'customers list',
  about: 'Lists the customers of the account, oldest first.',
  operation: 'customers.list',
  arguments: {},
  options: {
    email: option('--email <TEXT>', 'only those whose e-mail address contains this'),
    limit: option('--limit <N>', 'at most so many, 1 or more', { parse: parsePositive }),
  },
  fields: customerFields,
  examples: [
    ['lkm customers list', 'all of them'],
    ['ID=$(lkm customers list --email it@ada.example -q)', 'the id behind an address'],
    ['lkm customers list --fields id,email --format csv -o customers.csv', 'for a spreadsheet'],
  ],

  async run({ email, limit }, context) {
    const client = await context.client();
    const { items } = await client.customers.list();
    const customers = items.filter((customer) => matches(customer.email, email)).slice(0, limit);
    return {
      kind: 'rows',
      rows: customers,
      data: customers,
      quiet: customers.map(({ id }) => id),
      empty:
        email === undefined ? 'no customers yet; lkm customers create makes one' : 'no customer has such an address',
    };
  },
});

const matches = (email: string | null, part: string | undefined): boolean =>
  part === undefined || (email ?? '').toLowerCase().includes(part.toLowerCase());
