import type { KeyStatus } from '../../../contract/keys/lists.ts';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { Findable } from '../../../domain/access.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { isAmong, join, raw, type Sql, sql } from '../../engine/sql.ts';
import { type Filters, listsOf, type Page } from '../../lists.ts';
import { beginsWith } from '../../search.ts';
import {
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
  shownLength,
  tailOf,
} from './licenses.ts';

export interface KeyFilters {
  /** Null means of any product. */
  readonly productIds: readonly string[] | null;
  readonly customerId?: string | undefined;
  readonly planId?: string | undefined;
  readonly status?: { readonly is: KeyStatus; readonly now: Instant; readonly until: Instant } | undefined;
  readonly trial?: boolean | undefined;
  readonly licenseType?: License['licenseType'] | undefined;
  /** From this id on, since ids are in the order of time. */
  readonly fromId?: string | undefined;
  readonly beforeId?: string | undefined;
  /** A day. */
  readonly unseenSince?: string | undefined;
  readonly expiresFrom?: Instant | undefined;
  readonly expiresBefore?: Instant | undefined;
  readonly text?: (Findable & { readonly text: string; readonly key: string }) | undefined;
  readonly metadata?: readonly (readonly [name: string, value: string])[] | undefined;
}

const lists = listsOf(licenses, 'id', { descending: true });

/** Newest first. */
export const keyListRepository = (db: Connection) => ({
  page: (accountId: AccountId, { beforeId, ...filters }: KeyFilters, page: Page): Promise<License[]> => {
    // One bound in place of two: of these SQLite expects that they leave few keys, and then uses no other index.
    const [after] = [beforeId, page.after].filter((one) => one !== undefined).sort();
    return lists.of(db, { accountId }, toFilters(accountId, filters)).part({ ...page, after });
  },

  /** On all pages. */
  count: (accountId: AccountId, filters: KeyFilters): Promise<number> =>
    lists.of(db, { accountId }, toFilters(accountId, filters)).count(),
});

const statusFilters: Record<KeyStatus, (now: Instant, until: Instant) => Sql> = {
  active: isActive,
  unused: isUnused,
  full: (now) => sql`(case when licenses.activations >= licenses.max_activations then 1 end) = 1 and ${isFull(now)}`,
  expiring: isExpiring,
  // In an expression, so that SQLite reads keys with an end in the order of the list, and does not sort all that have ended.
  expired: (now) => sql`licenses.expires_at is not null
    and (case when licenses.vendor_disabled = 0 then licenses.expires_at end) <= ${now}`,
  blocked: () => isBlocked,
  revoked: () => sql`(case when licenses.revoked_at is not null then 1 end) = 1 and ${isRevoked}`,
};

function toFilters(accountId: AccountId, wanted: KeyFilters): Filters {
  const { productIds, customerId, planId, status, trial, licenseType, fromId, beforeId, text } = wanted;
  const { unseenSince, expiresFrom, expiresBefore, metadata = [] } = wanted;
  const conditions: Sql[] = [];
  if (productIds !== null) conditions.push(isAmong(raw('licenses.product_id'), productIds));
  if (customerId !== undefined) conditions.push(sql`licenses.customer_id = ${customerId}`);
  if (planId !== undefined) conditions.push(sql`licenses.plan_id = ${planId}`);
  if (status !== undefined) conditions.push(statusFilters[status.is](status.now, status.until));
  if (trial !== undefined) conditions.push(trial ? isTrial : sql`licenses.is_trial = 0`);
  if (licenseType !== undefined) conditions.push(raw(`licenses.license_type = '${licenseType}'`));
  if (fromId !== undefined) conditions.push(sql`licenses.id >= ${fromId}`);
  if (beforeId !== undefined) conditions.push(sql`licenses.id < ${beforeId}`);
  if (unseenSince !== undefined) conditions.push(isUnseenSince('licenses', unseenSince));
  if (expiresFrom !== undefined) conditions.push(sql`licenses.expires_at >= ${expiresFrom}`);
  if (expiresBefore !== undefined) conditions.push(sql`licenses.expires_at < ${expiresBefore}`);
  for (const [name, value] of metadata) {
    conditions.push(sql`licenses.id in (
      select m.license_id from license_metadata as m
      where m.account_id = ${accountId} and m.name = ${name} and m.value = ${value})`);
  }
  return { conditions, found: text && idsFoundBy(accountId, text) };
}

/** The end of a key that an index holds, and that a masked key of any format shows. */
const TAIL_LENGTH = 4;

/** A whole key, the end of one, or the start of a word of what belongs to a key. What has no such end, or no word, finds none. */
function idsFoundBy(accountId: AccountId, { text, key, anyKeyEnd, customers }: NonNullable<KeyFilters['text']>): Sql {
  const characters = Array.from(text.toLowerCase());
  const { length } = characters;
  const queries = [
    sql`select l.id from licenses as l where l.account_id = ${accountId} and ${isKey(key, 'l.license_key')}`,
  ];
  queries.push(sql`
    select l.id from previous_keys as p join licenses as l on l.account_id = p.account_id and l.id = p.license_id
    where p.account_id = ${accountId} and p.license_key = ${key}`);
  if (length >= TAIL_LENGTH) {
    const isShown = anyKeyEnd ? raw('1 = 1') : sql`${length} = ${shownLength(raw('l.license_key'))}`;
    queries.push(sql`
      select l.id from licenses as l where l.account_id = ${accountId}
        and ${tailOf(raw('l.license_key'))} = ${characters.slice(-TAIL_LENGTH).join('')}
        and lower(substr(l.license_key, length(l.license_key) - ${length} + 1)) = ${characters.join('')} and ${isShown}`);
  }
  const begins = beginsWith(accountId, text);
  if (begins !== null) {
    queries.push(sql`select p.owner_id as id from search_phrases as p where ${begins} and p.kind <> 'customer'`);
    if (customers) {
      queries.push(sql`
        select l.id from search_phrases as p
          join licenses as l on l.account_id = p.account_id and l.customer_id = p.owner_id
        where ${begins} and p.kind = 'customer'`);
    }
  }
  return join(queries, ' union all ');
}
