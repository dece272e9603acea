import type { Stats } from '../../contract/stats.ts';
import { option, productFilter } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import type { Field, View } from '../output/result.ts';
import { count } from '../output/words.ts';
import { checkFiltersExist } from '../request/look-ups.ts';
import { parseSince } from '../values/instant.ts';
import { readCommand } from './forms.ts';
import { countIssued, kinds } from './issued-by.ts';
import { listedFields } from './keys/list.ts';
import { fieldsShown } from './results.ts';

type Numbers = Readonly<Record<string, unknown>>;

/** The row for all products together. */
const ALL = 'all';

const countFields: readonly Field[] = [
  { name: 'productId', label: 'product', cuts: true, show: (id, _, { productName }) => String(productName ?? id) },
  { name: 'total', isNumber: true },
  { name: 'active', isNumber: true },
  { name: 'unused', isNumber: true, drops: 3 },
  { name: 'full', isNumber: true, drops: 4 },
  { name: 'expiring', isNumber: true },
  { name: 'expired', isNumber: true },
  { name: 'blocked', isNumber: true, drops: 2 },
  { name: 'revoked', isNumber: true, drops: 2 },
  { name: 'trial', isNumber: true, drops: 1 },
];

export const stats = readCommand({
  about:
    'Counts keys by product and status, and shows what was issued and activated in each of the last 12 weeks, which ' +
    'keys have the fewest slots left, and which expire next. With --by: how many keys were issued since a time, by whom or ' +
    'of what.',
  operation: 'stats.get',
  alsoNeeds: { 'event:read': 'for --by token', 'token:read': 'for the names of tokens' },
  options: {
    product: productFilter,
    by: option('--by <WHAT>', 'count issued keys by this', { choices: kinds }),
    since: option('--since <WHEN>', 'with --by: since when, as a day or how long ago; 7d unless given', parseSince),
  },
  fields: [...countFields, ...fieldsShown('data', 'productName'), ...fieldsShown('chosen', 'name', 'issued')],
  examples: [
    ['lkm stats', 'the whole account'],
    ['lkm stats -P "$ID"', 'one product'],
    ['lkm stats --by token --since 30d', 'who has issued most keys'],
    ['lkm stats -o keys.csv', 'the counts of each product, for a spreadsheet'],
  ],

  async read(client, { product, by, since }, { io }) {
    if (by !== undefined) {
      return countIssued(client, by, { since: since ?? parseSince('7d', io), productId: product });
    }
    if (since !== undefined) throw new UsageError('--since goes with --by');
    const data = await client.stats.get({ productId: product });
    if (data.keys.total === 0) await checkFiltersExist(client, { productId: product });
    return {
      kind: 'rows',
      rows: [...data.products, { ...data.keys, productId: ALL }],
      data,
      empty: '',
      quiet: [String(data.keys.total)],
      secret: true,
      draw: (view) => renderStats(data, view),
    };
  },
});

const MAX_SHOWN = 5;

async function renderStats(data: Stats, view: View): Promise<string> {
  const { renderTable } = await import('../output/table.ts');
  const table = (fields: readonly Field[], rows: readonly Numbers[]) =>
    rows.length === 0 ? 'none\n' : renderTable(fields, rows, view);
  const { products } = data;
  const rows = products.length > 1 ? [...products, { ...data.keys, productId: ALL }] : products;
  const { devices, sessions, customers } = data;
  const known = customers === null ? '' : `, ${count(customers, 'customer')}`;
  const sections: [title: string, text: string][] = [
    ['keys by product', table(countFields, rows)],
    ['in use', `${count(devices, 'device')}, ${count(sessions, 'session')}${known}\n`],
    ['issued per week', barsOf(data.issuedPerWeek, view)],
    ['activated per week', barsOf(data.activatedPerWeek, view)],
    ['fullest', table(keyFields('activations'), data.fullest.slice(0, MAX_SHOWN))],
    ['next to expire', table(keyFields('expirationDate'), data.nextToExpire.slice(0, MAX_SHOWN))],
  ];
  return sections.map(([title, text]) => `${view.paint.bold(title)}\n${text}`).join('\n');
}

const keyFields = (told: string): Field[] =>
  listedFields.filter(({ name }) => ['key', told, 'customerId'].includes(name));

const MAX_BAR = 60;

function barsOf(weeks: Stats['issuedPerWeek'], { columns }: View): string {
  const most = Math.max(1, ...weeks.map(({ count }) => count));
  const labelWidth = Math.max(0, ...weeks.map(({ week }) => week.length));
  const numberWidth = String(most).length;
  const room = Math.max(1, Math.min(columns - labelWidth - numberWidth - 4, MAX_BAR));
  const lines = weeks.map(({ week, count }) => {
    // Any number above 0 gets a bar.
    const width = count === 0 ? 0 : Math.max(1, Math.round((count / most) * room));
    return `${week.padEnd(labelWidth)}  ${String(count).padStart(numberWidth)}  ${'█'.repeat(width)}`.trimEnd();
  });
  return lines.map((line) => `${line}\n`).join('');
}
