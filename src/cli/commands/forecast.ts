import { walkList } from '../../client/lists.ts';
import type { ListedLicense } from '../../contract/keys/lists.ts';
import { command, option, productFilter } from '../command.ts';
import { count } from '../output/words.ts';
import { checkFiltersExist } from '../request/check-filters.ts';
import { parsePositive } from '../values/scalars.ts';
import { listedFields, listOfKeys } from './keys/list.ts';

export const forecast = command({
  about: 'Lists the keys that expire within N days, soonest first.',
  operation: 'keys.list',
  watchable: true,
  options: {
    days: option('--days <N>', 'how far to look, in days; 60 unless given', { parse: parsePositive }),
    product: productFilter,
  },
  fields: listedFields,
  examples: [
    ['lkm forecast --days 60', 'the next two months'],
    ['lkm forecast --days 7 -o week.csv', 'for a spreadsheet'],
  ],

  async run({ days = 60, product }, context) {
    const client = await context.client();
    const within = { years: 0, months: 0, weeks: 0, days: Math.min(days, MAX_DAYS), hours: 0, minutes: 0, seconds: 0 };
    const found: ListedLicense[] = [];
    const filters = { status: 'expiring' as const, within, productId: product };
    for await (const key of walkList(client.keys.list, filters)) found.push(key);
    if (found.length === 0) await checkFiltersExist(client, { productId: product });
    found.sort((one, other) => (String(one.expirationDate) < String(other.expirationDate) ? -1 : 1));
    const empty = `no key expires within ${count(days, 'day')}`;
    return listOfKeys(found, { limit: undefined, empty, now: context.io.now() });
  },
});

/** The contract takes four digits for each unit. */
const MAX_DAYS = 9_999;
