import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import {
  flagField,
  integerField,
  listField,
  notBoth,
  pageFields,
  positiveDurationField,
  SearchText,
} from '../fields.ts';
import { showAs } from '../openapi/json-schema.ts';
import { CursorMeta, PageMeta, partList } from '../reply.ts';
import { CustomerId, Instant, PlanId, ProductId, shownId, text } from '../scalars.ts';
import { License, licenseTypes, listedNames, UnseenSince } from './licenses.ts';
import { METADATA_LIMITS } from './metadata.ts';

/** The statuses of a key; `unused`, `full` and `expiring` keys are also `active`. Source: decision 0052. */
export const keyStatuses = ['active', 'unused', 'full', 'expiring', 'expired', 'blocked', 'revoked'] as const;

export type KeyStatus = (typeof keyStatuses)[number];

/** A licence in a list. */
export const ListedLicense = License.omit({ devices: true })
  .extend({
    customerId: shownId(CustomerId).nullable().optional().describe('Its customer; null when it has none'),
    ...listedNames,
  })
  .meta({ id: 'ListedLicense', description: 'A licence key with its limits and its state, without its devices' });
export type ListedLicense = z.output<typeof ListedLicense>;

/** The most filters by metadata in one request. */
const MAX_METADATA_FILTERS = 5;

/** A query parameter `metadata.NAME` asks for the entry NAME. */
const METADATA_PREFIX = 'metadata.';

const EntryValue = text(0, METADATA_LIMITS.foundLength);

const metadataFilter = showAs(
  z
    .record(text(1, METADATA_LIMITS.nameLength), EntryValue)
    .refine(
      (entries) => Object.keys(entries).length <= MAX_METADATA_FILTERS,
      `at most ${MAX_METADATA_FILTERS} entries`,
    ),
  // On the wire there is a parameter for each entry.
  z
    .record(z.string().regex(/^metadata\../), EntryValue)
    .meta({ maxProperties: MAX_METADATA_FILTERS, examples: [{ 'metadata.plan': 'pro' }] }),
);

const Filters = z
  .object({
    productId: ProductId.optional().describe('Only keys of this product'),
    customerId: CustomerId.optional().describe('Only keys of this customer'),
    planId: PlanId.optional().describe('Only keys of this plan'),
    status: listField(keyStatuses)
      .optional()
      .describe(
        'Only keys with one of these statuses now. active: not blocked, revoked or expired. Parts of active are unused: no device; ' +
          'full: no free activation slot; expiring: an expiry `within` a time. expired: expired, but not blocked or revoked. ' +
          'blocked: disabled by the vendor. revoked: revoked for ever',
      ),
    within: positiveDurationField().optional().describe('Goes with status expiring; default P30D'),
    trial: flagField().optional().describe('Only trials, or only others'),
    licenseType: listField(licenseTypes).optional().describe('Only keys of these types'),
    createdAfter: Instant.optional().describe('Only keys created at this instant or later'),
    createdBefore: Instant.optional().describe('Only keys created before this instant'),
    expiresAfter: Instant.optional().describe('Only keys that expire at this instant or later'),
    expiresBefore: Instant.optional().describe('Only keys that expire before this instant'),
    unseenSince: UnseenSince.optional().describe(
      'Only keys that no application has used on this day (UTC) or later; for a key never used, its creation counts',
    ),
    text: SearchText.optional().describe(
      'Only keys that match this text, without regard to case and accents. It matches a whole key, the last section of a key, and ' +
        'parts of words in the reference, the metadata, and the host id or tag of a device; with `customer:read` also in the name ' +
        'or e-mail address of the customer. A text of fewer than three characters matches beginnings of words only. A caller that ' +
        'sees keys masked finds a key only by the part that it is shown',
    ),
    metadata: metadataFilter
      .optional()
      .describe(
        'Only keys with these free entries, each as `metadata.NAME=value`: texts of up to 500 characters, numbers, booleans',
      ),
    page: integerField(1, 1_000_000)
      .optional()
      .describe('The page, from 1. The service then counts all matching keys; with `cursor` it counts none'),
    limit: integerField(1, 1_000).optional().describe('How many keys a page or part has; default 100'),
    cursor: z
      .string()
      .regex(/^(lic_[0-9a-z]{26})?$/)
      .optional()
      .describe(
        'Walks through the whole list: empty or absent for the first part, then `next` of the part before. Not with `page`',
      ),
  })
  .refine(({ within, status }) => within === undefined || status?.includes('expiring') === true, {
    message: 'within goes with status expiring',
    path: ['within'],
  })
  .refine(...notBoth('cursor', 'page'));

/** Makes one field of the query parameters `metadata.NAME`. */
const metadataParameters = z.codec(z.looseObject({}), z.any(), {
  decode: (written) => {
    const isEntry = (name: string) => name.startsWith(METADATA_PREFIX);
    const own = Object.entries(written).filter(([name]) => !isEntry(name) && name !== 'metadata');
    const entries = Object.entries(written)
      .filter(([name]) => isEntry(name))
      .map(([name, value]) => [name.slice(METADATA_PREFIX.length), value]);
    return { ...Object.fromEntries(own), ...(entries.length > 0 && { metadata: Object.fromEntries(entries) }) };
  },
  encode: ({ metadata, ...own }: { readonly metadata?: Readonly<Record<string, string>> }) => ({
    ...own,
    // An undefined `metadata` stays in the result: the client checks that each field of its input was encoded.
    metadata: undefined,
    ...Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [METADATA_PREFIX + name, value])),
  }),
});

const query = showAs(metadataParameters.pipe(Filters), Filters);

/** The lists of keys. */
export const keyLists = {
  /** Lists keys, newest first: a page of them, or by cursor all of them while they change. Source: decision 0052. */
  list: endpoint('GET /key/list', 'license:read', {
    summary: 'List licence keys',
    description:
      'Lists licence keys, newest first, without their devices. Filters narrow the list down; a token that is limited to ' +
      'some products gets keys of these only. Keys are masked unless the token is an admin or holds `license:reveal`.',
    query,
    readsMany: true,
    reply: partList('ListKeysResponse', ListedLicense, z.union([PageMeta, CursorMeta])),
    example: { status: 'expiring', within: 'P30D', 'metadata.plan': 'pro' },
  }),
};

/** The keys of a customer: an operation on customers. */
export const customerKeys = {
  /** Lists the keys of one customer, newest first. Source: decision 0052. */
  keys: endpoint('GET /customer/keys', 'license:read', {
    summary: 'List the licence keys of a customer',
    description: 'Lists the licence keys of one customer, newest first, as `GET /key/list` does.',
    query: z.object({
      customerId: CustomerId,
      page: pageFields.page.describe('The page, from 1; default 1'),
      limit: pageFields.limit.describe('How many keys a page has; default 100'),
    }),
    readsMany: true,
    reply: partList('ListCustomerKeysResponse', ListedLicense, PageMeta),
    errors: ['customerNotFound'],
  }),
};
