import type { Client } from '../../client/client.ts';
import { listAll } from '../../client/lists.ts';
import type { Stats } from '../../contract/stats.ts';
import { command, productFilter } from '../command.ts';
import { renderBars } from '../output/bars.ts';
import type { Field, View } from '../output/result.ts';
import { count, expiryInBrief, nothing, usageInBrief } from '../output/words.ts';
import { checkFiltersExist } from '../request/look-ups.ts';

type Numbers = Readonly<Record<string, unknown>>;

const number = { isNumber: true } as const;

/** The last row, of all products together. */
const ALL = 'all';

const countFields: readonly Field[] = [
  { name: 'productId', label: 'product', cuts: true, show: (_, __, { name }) => String(name) },
  { name: 'total', ...number },
  { name: 'active', ...number },
  { name: 'unused', ...number, drops: 3 },
  { name: 'full', ...number, drops: 4 },
  { name: 'expiring', ...number },
  { name: 'expired', ...number },
  { name: 'blocked', ...number, drops: 2 },
  { name: 'trial', ...number, drops: 1 },
];

const poolFields: readonly Field[] = [
  { name: 'key' },
  { name: 'activations', label: 'used', ...number, show: (used, _, row) => usageInBrief(used, row.maxActivations) },
  { name: 'customerId', label: 'customer', show: (id) => String(id ?? nothing), drops: 1 },
];

const endFields: readonly Field[] = [
  { name: 'key' },
  { name: 'expirationDate', label: 'expires', show: expiryInBrief },
  { name: 'customerId', label: 'customer', show: (id) => String(id ?? nothing), drops: 1 },
];

export const stats = command({
  about:
    'Counts keys by product and status, and shows what was issued and activated in each of the last 12 weeks, which ' +
    'keys have the fewest slots left, and which expire next.',
  operation: 'stats.get',
  watchable: true,
  options: {
    product: productFilter,
  },
  fields: countFields,
  examples: [
    ['lkm stats', 'the whole account'],
    ['lkm stats -P "$ID"', 'one product'],
    ['lkm stats -o keys.csv', 'the counts of each product, for a spreadsheet'],
    ['lkm stats --json', 'everything, for a program'],
  ],

  async run({ product }, context) {
    const client = await context.client();
    const data = await client.stats.get({ productId: product });
    if (data.keys.total === 0) await checkFiltersExist(client, { productId: product });
    return {
      kind: 'rows',
      rows: [...data.products, { ...data.keys, productId: ALL }],
      data,
      empty: '',
      quiet: [String(data.keys.total)],
      secret: true,
      draw: async (view) => renderStats(data, await namesOfProducts(client), view),
    };
  },
});

/** Names by id; none where the token may not read products. */
async function namesOfProducts(client: Client): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  try {
    for await (const { id, name } of listAll(client.products.list, {})) names.set(id, name);
  } catch (error) {
    if (!(error instanceof Error && 'reason' in error && error.reason === 'scopeMissing')) throw error;
  }
  return names;
}

/** As many as a glance takes in. */
const MAX_SHOWN = 5;

async function renderStats(data: Stats, names: ReadonlyMap<string, string>, view: View): Promise<string> {
  const { renderTable } = await import('../output/table.ts');
  const table = (fields: readonly Field[], rows: readonly Numbers[]) => renderTable(fields, rows, view).text;
  const products = data.products.map((counts) => ({
    ...counts,
    name: names.get(counts.productId) ?? counts.productId,
  }));
  const rows = products.length > 1 ? [...products, { ...data.keys, productId: ALL, name: ALL }] : products;
  const { devices, sessions, customers } = data;
  const others = [
    count(devices, 'device'),
    count(sessions, 'session'),
    ...(customers === null ? [] : [count(customers, 'customer')]),
  ];
  const sections: [title: string, text: string][] = [
    ['keys by product', rows.length === 0 ? 'none\n' : table(countFields, rows)],
    ['in use', `${others.join(', ')}\n`],
    ['issued per week', barsOf(data.issuedPerWeek, view)],
    ['activated per week', barsOf(data.activatedPerWeek, view)],
    ['fullest', data.fullest.length === 0 ? 'none\n' : table(poolFields, data.fullest.slice(0, MAX_SHOWN))],
    [
      'next to expire',
      data.nextToExpire.length === 0 ? 'none\n' : table(endFields, data.nextToExpire.slice(0, MAX_SHOWN)),
    ],
  ];
  return sections.map(([title, text]) => `${view.paint.bold(title)}\n${text}`).join('\n');
}

const barsOf = (weeks: Stats['issuedPerWeek'], { columns }: View): string =>
  renderBars(
    weeks.map((one) => ({ label: one.week, count: one.count })),
    columns,
  );
