import type { KeyStatus } from '../../../contract/keys/lists.ts';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { Findable } from '../../../domain/access.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { and, isAmong, raw, type Sql, sql, unionOf } from '../../engine/sql.ts';
import { type Filters, listsOf, type Page } from '../../lists.ts';
import { customerSearch, licenseSearch, patternsOf } from '../../search.ts';
import {
  besideLicense,
  byRecordedEnd,
  isActive,
  isBlocked,
  isExpiring,
  isFull,
  isKey,
  isRevoked,
  isTrial,
  isUnseenSince,
  isUnused,
  licenses,
  type NamedLicense,
  readNamed,
  shownLength,
  tailOf,
} from './licenses.ts';

export interface KeyFilters {
  /** Null means of any product. */
  readonly productIds: readonly string[] | null;
  readonly customerId?: string | undefined;
  readonly planId?: string | undefined;
  /** Any of these statuses. */
  readonly status?: { readonly is: readonly KeyStatus[]; readonly now: Instant; readonly until: Instant } | undefined;
  readonly trial?: boolean | undefined;
  readonly licenseTypes?: readonly License['licenseType'][] | undefined;
  /** The first id; ids are in the order of time. */
  readonly fromId?: string | undefined;
  readonly beforeId?: string | undefined;
  /** A day. */
  readonly unseenSince?: string | undefined;
  readonly expiresFrom?: Instant | undefined;
  readonly expiresBefore?: Instant | undefined;
  readonly text?: (Findable & { readonly text: string; readonly key: string }) | undefined;
  readonly metadata?: readonly (readonly [name: string, value: string])[] | undefined;
}

const lists = listsOf({ ...licenses, read: readNamed }, 'id', { descending: true, beside: besideLicense });

/** Newest first. */
export const keyListRepository = (db: Connection) => ({
  page: (accountId: AccountId, { beforeId, ...filters }: KeyFilters, page: Page): Promise<NamedLicense[]> => {
    // One bound instead of two: with two, SQLite expects few keys and uses no other index.
    const [before] = [beforeId, page.after].filter((one) => one !== undefined).sort();
    const wanted = toFilters(accountId, { ...filters, beforeId: before });
    return lists.of(db, { accountId }, wanted).part({ ...page, after: undefined });
  },

  /** The number of keys on all pages. */
  count: (accountId: AccountId, filters: KeyFilters): Promise<number> =>
    lists.of(db, { accountId }, toFilters(accountId, filters)).count(),
});

/** Where an index serves a status, the condition of the index stands first, in the words of `0001-schema.ts`. */
const statusFilters: Record<Exclude<KeyStatus, 'expired'>, (now: Instant, until: Instant) => Sql> = {
  active: isActive,
  unused: isUnused,
  full: (now) => sql`(case when licenses.activations >= licenses.max_activations then 1 end) = 1 and ${isFull(now)}`,
  expiring: isExpiring,
  blocked: () => isBlocked,
  revoked: () => sql`(case when licenses.revoked_at is not null then 1 end) = 1 and ${isRevoked}`,
};

function toFilters(accountId: AccountId, wanted: KeyFilters): Filters {
  const { text, status } = wanted;
  const statuses = withoutParts(status?.is ?? []);
  const found = text && idsFoundBy(accountId, text);
  if (status === undefined || statuses.length < 2) return { ...filtersOf(accountId, wanted, statuses[0]), found };
  const { now, until } = status;
  const either = statuses.flatMap((is, at) => {
    const { conditions, either = [] } = filtersOf(accountId, wanted, is);
    // A key may be unused, full and expiring at once: it counts for the first of these only.
    const before = statuses.slice(0, at).filter(isPartOfActive);
    const own = [...conditions, ...before.map((part) => sql`(${statusFilters[part](now, until)}) is not true`)];
    return either.length === 0 ? [and(own)] : either.map((one) => and([...own, one]));
  });
  return { conditions: [], either, found };
}

const partsOfActive = ['unused', 'full', 'expiring'] as const satisfies KeyStatus[];

const isPartOfActive = (status: KeyStatus): status is (typeof partsOfActive)[number] =>
  partsOfActive.some((part) => part === status);

/** Statuses without any status that is a part of another status in the list. */
const withoutParts = (statuses: readonly KeyStatus[]): readonly KeyStatus[] =>
  statuses.includes('active') ? statuses.filter((status) => !isPartOfActive(status)) : statuses;

/** The filters for keys with one status, or with any status. */
function filtersOf(accountId: AccountId, wanted: KeyFilters, is: KeyStatus | undefined) {
  const { productIds, customerId, planId, status, trial, licenseTypes = [], fromId, beforeId } = wanted;
  const { unseenSince, expiresFrom, expiresBefore, metadata = [] } = wanted;
  const hasFew = customerId !== undefined || planId !== undefined || metadata.length > 0;
  const hasEnded = is === 'expired' || (expiresBefore !== undefined && expiresFrom === undefined);
  const byRecord = hasEnded && !hasFew;
  // Several products in an expression, so that SQLite reads ended keys in the order of lists.
  const product = raw(byRecord && productIds?.length !== 1 ? `(licenses.product_id || '')` : 'licenses.product_id');
  const within = (end: Sql, id: Sql): Sql[] => [
    ...(status && is === 'expired' ? [sql`licenses.vendor_disabled = 0 and ${end} <= ${status.now}`] : []),
    ...given(expiresBefore, (before) => sql`${end} < ${before}`),
    ...given(fromId, (from) => sql`${id} >= ${from}`),
    ...given(beforeId, (before) => sql`${id} < ${before}`),
  ];
  const conditions = [
    ...given(productIds ?? undefined, (ids) => isAmong(product, ids)),
    ...given(customerId, (customer) => sql`licenses.customer_id = ${customer}`),
    ...given(planId, (plan) => sql`licenses.plan_id = ${plan}`),
    ...(status && is !== undefined && is !== 'expired' ? [statusFilters[is](status.now, status.until)] : []),
    ...given(trial, (isWanted) => (isWanted ? isTrial : sql`licenses.is_trial = 0`)),
    // Both types together are all keys.
    ...(licenseTypes.length === 1 ? [raw(`licenses.license_type = '${licenseTypes[0]}'`)] : []),
    ...given(unseenSince, (day) => isUnseenSince('licenses', day)),
    ...given(expiresFrom, (from) => sql`licenses.expires_at >= ${from}`),
    ...(byRecord ? [] : within(raw('licenses.expires_at'), raw('licenses.id'))),
    ...metadata.map(
      ([name, value]) => sql`licenses.id in (
        select m.license_id from license_metadata as m
        where m.account_id = ${accountId} and m.name = ${name} and m.value = ${value})`,
    ),
  ];
  const either = byRecord ? byRecordedEnd((end, id) => and(within(end, id))) : undefined;
  return { conditions, either };
}

/** The condition for a filter; none if the filter is not given. */
const given = <T>(filter: T | undefined, condition: (value: T) => Sql): Sql[] =>
  filter === undefined ? [] : [condition(filter)];

/** The end of a key that an index holds, and that a masked key of any format shows. */
const TAIL_LENGTH = 4;

/** Searches by a whole key, the last characters of a key, or parts of words of a key's data. Other text finds nothing. */
function idsFoundBy(accountId: AccountId, wanted: NonNullable<KeyFilters['text']>): Sql {
  const queries = [idsByKey(accountId, wanted)];
  for (const pattern of patternsOf(wanted.text)) {
    queries.push(sql`select w.license_id as id from ${licenseSearch(accountId, pattern)}`);
    if (!wanted.customers) continue;
    const customers = sql`select w.customer_id from ${customerSearch(accountId, pattern)}`;
    queries.push(sql`
      select l.id from (${customers}) as c
        join licenses as l on l.account_id = ${accountId} and l.customer_id = c.customer_id`);
  }
  return unionOf(queries);
}

/** A query for the ids of licences by a whole key, an earlier key, or the end of either. */
export function idsByKey(
  accountId: AccountId,
  { text, key, anyKeyEnd }: Omit<NonNullable<KeyFilters['text']>, 'customers'>,
): Sql {
  const characters = Array.from(text.toLowerCase());
  const { length } = characters;
  const queries = [
    sql`select l.id from licenses as l where l.account_id = ${accountId} and ${isKey(key, 'l.license_key')}`,
    sql`select p.license_id from previous_keys as p where p.account_id = ${accountId} and p.license_key = ${key}`,
  ];
  if (length >= TAIL_LENGTH) {
    const endsSo = (key: Sql): Sql => sql`${tailOf(key)} = ${characters.slice(-TAIL_LENGTH).join('')}
      and lower(substr(${key}, length(${key}) - ${length} + 1)) = ${characters.join('')}
      and ${anyKeyEnd ? raw('1 = 1') : sql`${length} = ${shownLength(key)}`}`;
    queries.push(
      sql`select l.id from licenses as l where l.account_id = ${accountId} and ${endsSo(raw('l.license_key'))}`,
      sql`select p.license_id from previous_keys as p where p.account_id = ${accountId} and ${endsSo(raw('p.license_key'))}`,
    );
  }
  return unionOf(queries);
}
