import { type License, licenseTypes } from '../../../contract/keys/licenses.ts';
import { type KeyStatus, keyStatuses, ListedLicense } from '../../../contract/keys/lists.ts';
import { many, option, productFilter } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult, Field } from '../../output/result.ts';
import type { Note } from '../../output/terminal.ts';
import { EMPTY_CELL, expiryInBrief, relative, usageInBrief } from '../../output/words.ts';
import { checkFiltersExist } from '../../request/look-ups.ts';
import { parseCalendarDuration } from '../../values/duration.ts';
import { parseDayAgo, readStart } from '../../values/instant.ts';
import { parseMetadata } from '../../values/scalars.ts';
import { customerOption, limit, planOption, readCommand } from '../forms.ts';
import { fieldsShown, firstOf } from '../results.ts';
import { trialOption } from './key-options.ts';

export type ListedRow = ListedLicense & { readonly status: KeyStatus };

/** The names of the other members of a schema. */
export const otherNames = (
  schema: { readonly shape: object },
  fields: readonly { readonly name: string }[],
): string[] => Object.keys(schema.shape).filter((name) => !fields.some((field) => field.name === name));

const columns: readonly Field<ListedRow>[] = [
  { name: 'key' },
  { name: 'status', color: colorOf },
  {
    name: 'activations',
    label: 'used',
    isNumber: true,
    show: (used, _, row) => usageInBrief(used, row.maxActivations),
  },
  { name: 'maxActivations', shown: 'data' },
  { name: 'expirationDate', label: 'expires', show: expiryInBrief, drops: 3 },
  { name: 'createdAt', label: 'created', show: relative, drops: 1 },
  {
    name: 'productId',
    label: 'product',
    show: (id, _, { productName }) => productName ?? String(id),
    cuts: true,
    drops: 2,
  },
  {
    name: 'customerId',
    label: 'customer',
    show: (id, _, { customerName }) => customerName ?? String(id ?? EMPTY_CELL),
    cuts: true,
  },
  // For letters from a spreadsheet.
  { name: 'productName', shown: 'data' },
  { name: 'customerName', shown: 'data' },
  { name: 'customerEmail', shown: 'data' },
];

export const listedFields: readonly Field<ListedRow>[] = [
  ...columns,
  ...fieldsShown('chosen', ...otherNames(ListedLicense, columns)),
];

export const keysList = readCommand({
  about:
    'Lists keys, newest first. Filters add up. All that fit are read, part by part, while keys come and go; --limit ' +
    'reads no more than that.',
  operation: 'keys.list',
  options: {
    product: productFilter,
    customer: customerOption('only those of this customer'),
    plan: planOption('only those of this plan'),
    status: many('--status <STATUS>', 'only those with this status now, or with one of several', {
      choices: keyStatuses,
    }),
    within: option(
      '--within <DUR>',
      'with --status expiring: how soon, as 30d or 6mo; 30d unless given',
      parseCalendarDuration,
    ),
    trial: trialOption('only trials, or only others', 'trial'),
    licenseType: many('--type <TYPE>', 'only those of this type', { choices: licenseTypes }),
    createdAfter: option('--created-after <WHEN>', 'only those created from this day or instant on', readStart),
    createdBefore: option('--created-before <WHEN>', 'only those created before it', readStart),
    expiresAfter: option('--expires-after <WHEN>', 'only those that expire from this day or instant on', readStart),
    expiresBefore: option('--expires-before <WHEN>', 'only those that expire before it', readStart),
    unseenSince: option(
      '--unseen-for <DUR|DAY>',
      'only keys that no application has used for this long (90d), or since this day',
      parseDayAgo,
    ),
    text: option(
      '--text <TEXT>',
      'a key, its last section, or parts of words of customer, device, reference or metadata',
    ),
    metadata: many('--metadata <NAME=VALUE>', 'only those with this entry of metadata', parseMetadata),
    limit,
  },
  fields: listedFields,
  examples: [
    ['lkm keys list --status expiring --within 30d', 'keys to renew'],
    ['lkm keys list --unseen-for 180d', 'keys that nobody uses'],
    ['lkm keys list --text ada --limit 10', 'the ten newest keys of a customer called so'],
    ['lkm keys list --metadata order=A-1042 -q', 'the key of an order'],
    ['lkm keys list --status expired,blocked', 'what works no more'],
    ['lkm keys list --status expiring -o renewals.csv', 'for a spreadsheet, with names and addresses'],
  ],

  async read(client, { limit, metadata, product: productId, customer: customerId, plan: planId, ...filters }, context) {
    if (filters.within !== undefined && !filters.status?.includes('expiring')) {
      throw new UsageError('--within goes with --status expiring');
    }
    const entries = metadata && { metadata: Object.fromEntries(metadata) };
    const input = { productId, customerId, planId, ...filters, ...entries };
    const found = await firstOf((partSize) => client.keys.list({ ...input, limit: partSize }), limit);
    if (found.items.length === 0) await checkFiltersExist(client, input);
    const isFiltered = Object.values(input).some((filter) => filter !== undefined);
    const empty = isFiltered ? 'no key fits; leave a filter out to see more' : 'no keys yet; lkm keys create makes one';
    return listOfKeys(found, empty, context);
  },
});

export function listOfKeys(
  { items, notes = [] }: { readonly items: readonly ListedLicense[]; readonly notes?: readonly Note[] },
  empty: string,
  { io }: CommandContext,
): CommandResult {
  const now = io.now();
  const keys = items.map(({ key }) => key);
  const rows = items.map((key) => ({ ...key, status: statusOf(key, now) }));
  return { kind: 'rows', rows, data: items, quiet: keys, secrets: keys, secret: true, empty, notes };
}

export function colorOf(status: unknown): 'green' | 'yellow' | 'red' | null {
  if (status === 'active') return 'green';
  if (status === 'full') return 'yellow';
  return status === 'unused' ? null : 'red';
}

type StatusParts = Pick<License, 'vendorDisabled' | 'revokedAt' | 'expirationDate' | 'activations' | 'maxActivations'>;

/** The status of a key; of several the most important one. */
export function statusOf(license: StatusParts, now: number): KeyStatus {
  const { vendorDisabled, revokedAt, expirationDate, activations, maxActivations } = license;
  if (revokedAt != null) return 'revoked';
  if (vendorDisabled) return 'blocked';
  if (expirationDate !== null && Date.parse(expirationDate) <= now) return 'expired';
  if (activations === 0) return 'unused';
  return maxActivations !== null && activations >= maxActivations ? 'full' : 'active';
}
