import { walkList } from '../../client/lists.ts';
import type { ListedLicense } from '../../contract/keys/lists.ts';
import { command, option } from '../command.ts';
import type { Field } from '../output/result.ts';
import { count, nothing, relative, usageInBrief } from '../output/words.ts';
import { parsePositive } from '../values/scalars.ts';

const DAY_MS = 86_400_000;

/** What happens to a key, and when. */
interface Forecast {
  readonly at: string;
  readonly event: 'expires' | 'runs full';
  readonly id: string;
  readonly key: string;
  readonly productId: string;
  readonly customerId: string | null;
  readonly activations: number;
  readonly maxActivations: number | null;
}

export const forecast = command({
  path: 'forecast',
  about:
    'Lists, soonest first, the keys that expire within N days, and those that run full: where slots go on being ' +
    'taken as fast as they were since the key was created. Only the 20 fullest keys with several slots are looked at ' +
    'for that, and only if they are a week old.',
  operation: 'keys.list',
  watchable: true,
  arguments: {},
  options: {
    days: option('--days <N>', 'how far to look, in days; 60 unless given', { parse: parsePositive }),
    product: option('-P, --product <ID>', 'only this product', { env: 'LKM_PRODUCT', field: 'productId' }),
  },
  fields: forecastFields(),
  examples: [
    ['lkm forecast --days 60', 'the next two months'],
    ['lkm forecast --days 7 -o week.csv', 'for a spreadsheet'],
  ],

  async run({ days = 60, product }, context) {
    const client = await context.client();
    const now = context.io.now();
    const within = { years: 0, months: 0, weeks: 0, days: Math.min(days, MAX_DAYS), hours: 0, minutes: 0, seconds: 0 };
    const found: Forecast[] = [];
    for await (const key of walkList(client.keys.list, { status: 'expiring' as const, within, productId: product })) {
      if (key.expirationDate !== null) found.push(forecastOf(key, 'expires', key.expirationDate));
    }
    const { fullest } = await client.stats.get({ productId: product });
    for (const key of fullest) {
      const at = whenFull(key, now);
      if (at !== null && at <= now + days * DAY_MS)
        found.push(forecastOf(key, 'runs full', new Date(at).toISOString()));
    }
    found.sort((one, other) => (one.at < other.at ? -1 : 1));
    return {
      kind: 'rows',
      rows: found.map((one) => ({ ...one })),
      data: found,
      quiet: found.map(({ key }) => key),
      secret: true,
      empty: `no key expires or runs full within ${count(days, 'day')}`,
    };
  },
});

/** The contract takes four digits for each unit. */
const MAX_DAYS = 9_999;

function forecastFields(): readonly Field[] {
  return [
    { name: 'at', label: 'when', show: relative },
    { name: 'event', label: 'what' },
    { name: 'key' },
    {
      name: 'activations',
      label: 'used',
      isNumber: true,
      show: (used, _, row) => usageInBrief(used, row.maxActivations),
    },
    { name: 'customerId', label: 'customer', show: (id) => String(id ?? nothing), drops: 2 },
    { name: 'productId', label: 'product', drops: 1 },
    { name: 'maxActivations', shown: 'data' },
    { name: 'id', shown: 'chosen' },
  ];
}

const forecastOf = (license: ListedLicense, event: Forecast['event'], at: string): Forecast => ({
  at,
  event,
  id: license.id,
  key: license.key,
  productId: license.productId,
  customerId: license.customerId ?? null,
  activations: license.activations,
  maxActivations: license.maxActivations,
});

/** From a younger key nothing can be told. */
const WEEK_MS = 7 * DAY_MS;

/** When the last slot is taken, if slots go on being taken as fast as since the key was created; null if never. */
function whenFull({ createdAt, activations, maxActivations }: ListedLicense, now: number): number | null {
  if (createdAt === undefined || maxActivations === null || activations === 0) return null;
  const free = maxActivations - activations;
  const age = now - Date.parse(createdAt);
  if (free <= 0 || age < WEEK_MS) return null;
  return now + (free / activations) * age;
}
