import { sql } from 'kysely';
import type { KeyStatus } from '../../../contract/keys/lists.ts';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { Findable } from '../../../domain/access.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import type { Filters, Values } from '../../list-filters.ts';
import { listsOf, type Page, type Term } from '../../lists.ts';
import { phraseRange } from '../../search.ts';
import {
  isActive,
  isBlocked,
  isExpired,
  isExpiring,
  isFull,
  isKey,
  isTrial,
  isUnused,
  licenses,
  shownLength,
  tailOf,
  toLicense,
} from './licenses.ts';

/** Which keys a list holds. */
export interface KeyFilters {
  /** Null means of any product. */
  readonly productIds: readonly string[] | null;
  readonly customerId?: string | undefined;
  readonly status?: { readonly is: KeyStatus; readonly now: Instant; readonly until: Instant } | undefined;
  readonly trial?: boolean | undefined;
  readonly licenseType?: License['licenseType'] | undefined;
  /** From this id on, since ids are in the order of time. */
  readonly fromId?: string | undefined;
  readonly beforeId?: string | undefined;
  readonly expiresFrom?: Instant | undefined;
  readonly expiresBefore?: Instant | undefined;
  readonly text?: (Findable & { readonly text: string; readonly key: string }) | undefined;
  /** At most as many as the contract allows. */
  readonly metadata?: readonly (readonly [name: string, value: string])[] | undefined;
}

const metadata = {
  table: 'license_metadata',
  column: 'license_id',
  condition: (entry: Values) => sql`license_metadata.name = ${entry(0)} and license_metadata.value = ${entry(1)}`,
} as const;

// In the words of the partial indexes that serve them, as those of status-conditions.ts.
const conditions = {
  products: { oneOf: 'product_id' },
  customer: (id: Values) => sql`licenses.customer_id = ${id()}`,
  active: (now: Values) => isActive(now()),
  unused: (now: Values) => isUnused(now()),
  full: (now: Values) =>
    sql`(case when licenses.activations >= licenses.max_activations then 1 end) = 1 and ${isFull(now())}`,
  expiring: (span: Values) => isExpiring(span(0), span(1)),
  expired: (now: Values) => isExpired(now()),
  blocked: () => isBlocked,
  trial: () => isTrial,
  paid: () => sql`licenses.is_trial = 0`,
  floating: () => sql`licenses.license_type = 'floating'`,
  nodeLocked: () => sql`licenses.license_type = 'node-locked'`,
  fromId: (id: Values) => sql`licenses.id >= ${id()}`,
  beforeId: (id: Values) => sql`licenses.id < ${id()}`,
  expiresFrom: (end: Values) => sql`licenses.expires_at >= ${end()}`,
  expiresBefore: (end: Values) => sql`licenses.expires_at < ${end()}`,
  text: { found: idsFoundBy },
  metadata0: metadata,
  metadata1: metadata,
  metadata2: metadata,
  metadata3: metadata,
  metadata4: metadata,
};

const lists = listsOf(licenses, toLicense, {
  scope: ['accountId'],
  order: 'id',
  descending: true,
  conditions,
  sorted: {
    expiring: 'expirationDate',
    expired: 'expirationDate',
    expiresFrom: 'expirationDate',
    expiresBefore: 'expirationDate',
  },
});

/** Lists of the keys of accounts, newest first. */
export const keyListRepository = (db: Connection) => ({
  /** The keys of a page. */
  page: async (accountId: AccountId, filters: KeyFilters, page: Page): Promise<License[]> =>
    lists.page(db, { accountId }, page, toFilterValues(filters)),

  /** How many keys there are on all pages. */
  count: (accountId: AccountId, filters: KeyFilters): Promise<number> =>
    lists.sum(db, { accountId }, termsOf(toFilterValues(filters))),
});

type ListFilters = Filters<keyof typeof conditions>;

/**
 * What is counted, by what indexes hold: most keys are active, paid and node-locked, so the others are taken off. Where
 * another filter finds the keys, each of them is looked at anyway.
 */
function termsOf(filters: ListFilters, isTakenOff = false): Term<keyof ListFilters>[] {
  if (filters.text !== undefined || filters.metadata0 !== undefined) return [{ filters, isTakenOff }];
  const { active, paid, nodeLocked, ...rest } = filters;
  const less = (all: ListFilters, ...others: readonly ListFilters[]) => [
    ...termsOf(all, isTakenOff),
    ...others.flatMap((other) => termsOf({ ...all, ...other }, !isTakenOff)),
  ];
  if (active !== undefined) return less({ ...rest, paid, nodeLocked }, { blocked: 1 }, { expired: active });
  if (paid !== undefined) return less({ ...rest, nodeLocked }, { trial: 1 });
  if (nodeLocked !== undefined) return less(rest, { floating: 1 });
  return [{ filters: rest, isTakenOff }];
}

function toFilterValues({
  productIds,
  status,
  trial,
  licenseType,
  text,
  metadata: entries = [],
  ...filters
}: KeyFilters): ListFilters {
  const { customerId: customer, fromId, beforeId, expiresFrom, expiresBefore } = filters;
  return {
    products: productIds ?? undefined,
    customer,
    fromId,
    beforeId,
    expiresFrom,
    expiresBefore,
    ...(status && { [status.is]: status.is === 'expiring' ? [status.now, status.until] : status.now }),
    ...(trial !== undefined && { [trial ? 'trial' : 'paid']: 1 }),
    ...(licenseType && { [licenseType === 'floating' ? 'floating' : 'nodeLocked']: 1 }),
    text: text && textValues(text),
    ...Object.fromEntries(entries.map((entry, at) => [metadataFilterOf(at), entry])),
  };
}

function metadataFilterOf(at: number): string {
  const filter = `metadata${at}`;
  if (!(filter in conditions)) throw new RangeError(`no list is limited by more than ${at} entries of metadata`);
  return filter;
}

/** The end of a key that an index holds, and that a masked key of any format shows. */
const TAIL_LENGTH = 4;

/** A whole key, the end of one, or the start of a word of what belongs to a key. */
function idsFoundBy(value: Values) {
  const [account, key, tail, end, length, isAnyEnd] = [value.scope('accountId'), ...[0, 1, 2, 3, 4].map(value)];
  const [others, customers] = [5, 7].map((at) => isWithin(account, value(at), value(at + 1)));
  return sql`
    select l.id from licenses as l where l.account_id = ${account} and ${isKey(key, 'l.license_key')}
    union all
    select l.id from licenses as l where l.account_id = ${account}
      and ${tailOf(sql.ref('l.license_key'))} = ${tail}
      and lower(substr(l.license_key, length(l.license_key) - ${length} + 1)) = ${end}
      and (${isAnyEnd} = 1 or ${length} = ${shownLength(sql.ref('l.license_key'))})
    union all
    select p.owner_id from search_phrases as p where ${others} and p.kind <> 'customer'
    union all
    select l.id from search_phrases as p join licenses as l on l.account_id = p.account_id and l.customer_id = p.owner_id
      where ${customers} and p.kind = 'customer'`;
}

const isWithin = (account: unknown, from: unknown, before: unknown) =>
  sql`p.account_id = ${account} and p.phrase >= ${from} and p.phrase < ${before}`;

/** The values of that condition. What has no end of a key, or no word, finds none. */
function textValues({ text, key, anyKeyEnd, customers }: NonNullable<KeyFilters['text']>) {
  const end = text.toLowerCase();
  const length = Array.from(end).length;
  const tail = length < TAIL_LENGTH ? '' : Array.from(end).slice(-TAIL_LENGTH).join('');
  const nothing = ['', ''] as const;
  const range = phraseRange(text) ?? nothing;
  return [key, tail, end, length, anyKeyEnd ? 1 : 0, ...range, ...(customers ? range : nothing)];
}
