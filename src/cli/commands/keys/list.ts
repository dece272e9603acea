import { walkList } from '../../../client/lists.ts';
import { type License, licenseTypes } from '../../../contract/keys/licenses.ts';
import { type KeyStatus, keyStatuses, ListedLicense } from '../../../contract/keys/lists.ts';
import { command, customerOption, many, option, productFilter } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult, Field } from '../../output/result.ts';
import type { Note } from '../../output/terminal.ts';
import { expiryInBrief, nothing, relative, thereAreMore, usageInBrief } from '../../output/words.ts';
import { checkFiltersExist } from '../../request/check-filters.ts';
import { parseCalendarDuration } from '../../values/duration.ts';
import { parseStart } from '../../values/instant.ts';
import { parseBoolean, parseMetadata, parsePositive } from '../../values/scalars.ts';

/** A key in a list, with its status in a word. */
export type ListedRow = ListedLicense & { readonly status: KeyStatus };

/** The names of what the service says of a key besides. */
export const otherNames = (
  schema: { readonly shape: object },
  fields: readonly { readonly name: string }[],
): string[] => Object.keys(schema.shape).filter((name) => !fields.some((field) => field.name === name));

/** The columns of a list. */
const columns: readonly Field<ListedRow>[] = [
  { name: 'key' },
  { name: 'status' },
  {
    name: 'activations',
    label: 'used',
    isNumber: true,
    show: (used, _, row) => usageInBrief(used, row.maxActivations),
  },
  { name: 'maxActivations', shown: 'data' },
  { name: 'expirationDate', label: 'expires', show: expiryInBrief, drops: 4 },
  { name: 'createdAt', label: 'created', show: relative, drops: 3 },
  { name: 'productId', label: 'product', drops: 2 },
  { name: 'customerId', label: 'customer', show: (id) => String(id ?? nothing), drops: 1 },
];

export const listedFields: readonly Field<ListedRow>[] = [
  ...columns,
  ...otherNames(ListedLicense, columns).map((name) => ({ name, shown: 'chosen' }) as const),
];

export const keysList = command({
  about:
    'Lists keys, newest first. Filters add up. All that fit are read, part by part, while keys come and go; --limit ' +
    'reads no more than that.',
  operation: 'keys.list',
  watchable: true,
  options: {
    product: productFilter,
    customer: customerOption('only those of this customer'),
    status: option('--status <STATUS>', 'only those with this status now', { choices: keyStatuses, field: 'status' }),
    within: option('--within <DUR>', 'with --status expiring: how soon, as 30d or 6mo; 30d unless given', {
      parse: parseCalendarDuration,
      field: 'within',
    }),
    trial: option('--trial <true|false>', 'only trials, or only others', { parse: parseBoolean, field: 'trial' }),
    type: option('--type <TYPE>', 'only those of this type', { choices: licenseTypes, field: 'licenseType' }),
    createdAfter: option('--created-after <WHEN>', 'only those created from this day or instant on', {
      parse: parseStart,
      field: 'createdAfter',
    }),
    createdBefore: option('--created-before <WHEN>', 'only those created before it', {
      parse: parseStart,
      field: 'createdBefore',
    }),
    expiresAfter: option('--expires-after <WHEN>', 'only those that expire from this day or instant on', {
      parse: parseStart,
      field: 'expiresAfter',
    }),
    expiresBefore: option('--expires-before <WHEN>', 'only those that expire before it', {
      parse: parseStart,
      field: 'expiresBefore',
    }),
    text: option('--text <TEXT>', 'a key, its last section, or the start of a word of customer, device or reference', {
      field: 'text',
    }),
    metadata: many('--metadata <NAME=VALUE>', 'only those with this entry of metadata', { parse: parseMetadata }),
    limit: option('--limit <N>', 'at most N, 1 or more', { parse: parsePositive }),
  },
  fields: listedFields,
  examples: [
    ['lkm keys list --status expiring --within 30d', 'what to renew'],
    ['lkm keys list --text ada --limit 10', 'the ten newest keys of a customer called so'],
    ['lkm keys list --metadata order=A-1042 -q', 'the key of an order'],
    ['lkm keys list -P "$ID" --fields key,customerId -o keys.csv', 'for a spreadsheet'],
  ],

  async run({ limit, metadata, ...values }, context) {
    const client = await context.client();
    const { product: productId, customer: customerId, type: licenseType, ...filters } = values;
    if (filters.within !== undefined && filters.status !== 'expiring') {
      throw new UsageError('--within goes with --status expiring, and only with it');
    }
    const entries = metadata && { metadata: Object.fromEntries(metadata) };
    const input = { productId, customerId, licenseType, ...filters, ...entries };
    const found: ListedLicense[] = [];
    const pageSize = Math.min((limit ?? MAX_PAGE_SIZE) + 1, MAX_PAGE_SIZE);
    for await (const key of walkList(client.keys.list, input, { pageSize })) {
      found.push(key);
      if (limit !== undefined && found.length > limit) break;
    }
    if (found.length === 0) await checkFiltersExist(client, input);
    const isFiltered = Object.values(input).some((filter) => filter !== undefined);
    const empty = isFiltered ? 'no key fits; leave a filter out to see more' : 'no keys yet; lkm keys create makes one';
    return listOfKeys(found, { limit, empty, now: context.io.now() });
  },
});

/** The longest part that the service gives. */
const MAX_PAGE_SIZE = 1_000;

/** The result for keys, of which there may be one more than `limit`. */
export function listOfKeys(
  found: readonly ListedLicense[],
  { limit, empty, now }: { readonly limit: number | undefined; readonly empty: string; readonly now: number },
): CommandResult {
  const keys = found.slice(0, limit);
  const more: Note = { tone: 'hint', text: thereAreMore(limit) };
  return {
    kind: 'rows',
    rows: keys.map((key) => ({ ...key, status: statusOf(key, now) })),
    data: keys,
    quiet: keys.map(({ key }) => key),
    secrets: keys.map(({ key }) => key),
    empty,
    secret: true,
    notes: found.length > keys.length ? [more] : [],
  };
}

type StatusParts = Pick<License, 'vendorDisabled' | 'expirationDate' | 'activations' | 'maxActivations'>;

/** The status of a key in one word; where several fit, the one that matters most. */
export function statusOf(license: StatusParts, now: number): KeyStatus {
  const { vendorDisabled, expirationDate, activations, maxActivations } = license;
  if (vendorDisabled) return 'blocked';
  if (expirationDate !== null && Date.parse(expirationDate) <= now) return 'expired';
  if (activations === 0) return 'unused';
  return maxActivations !== null && activations >= maxActivations ? 'full' : 'active';
}
