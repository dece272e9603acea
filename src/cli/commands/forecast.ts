import { walkList } from '../../client/lists.ts';
import { option, productFilter } from '../command.ts';
import { count } from '../output/words.ts';
import { checkFiltersExist } from '../request/look-ups.ts';
import { parsePositive } from '../values/scalars.ts';
import { readCommand } from './forms.ts';
import { listedFields, listOfKeys } from './keys/list.ts';

export const forecast = readCommand({
  about: 'Lists the keys that expire within N days, soonest first.',
  operation: 'keys.list',
  options: {
    days: option('--days <N>', 'how far to look, in days; 60 unless given', { parse: parsePositive }),
    product: productFilter,
  },
  fields: listedFields,
  examples: [
    ['lkm forecast --days 60', 'the next two months'],
    ['lkm forecast --days 7 -o week.csv', 'for a spreadsheet'],
  ],

  async read(client, { days = 60, product: productId }, { io }) {
    const within = { years: 0, months: 0, weeks: 0, days: Math.min(days, MAX_DAYS), hours: 0, minutes: 0, seconds: 0 };
    const filters = { status: 'expiring' as const, within, productId };
    const items = await Array.fromAsync(walkList(client.keys.list, filters));
    if (items.length === 0) await checkFiltersExist(client, { productId });
    items.sort((one, other) => (String(one.expirationDate) < String(other.expirationDate) ? -1 : 1));
    return listOfKeys({ items }, `no key expires within ${count(days, 'day')}`, io.now());
  },
});

/** The contract takes four digits for each unit. */
const MAX_DAYS = 9_999;
