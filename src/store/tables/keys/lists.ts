import type { KeyStatus } from '../../../contract/keys/lists.ts';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { Findable } from '../../../domain/access.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { join, raw, type Sql, sql } from '../../engine/sql.ts';
import type { Filter } from '../../list-filters.ts';
import { listsOf, type Page, type Term } from '../../lists.ts';
import { beginsWith } from '../../search.ts';
import {
  isActive,
  isBlocked,
  isDisabled,
  isExpired,
  isExpiring,
  isFull,
  isKey,
  isRevoked,
  isTrial,
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
  readonly expiresFrom?: Instant | undefined;
  readonly expiresBefore?: Instant | undefined;
  readonly text?: (Findable & { readonly text: string; readonly key: string }) | undefined;
  readonly metadata?: readonly (readonly [name: string, value: string])[] | undefined;
}

const lists = listsOf(licenses, 'id', { descending: true });

/** Newest first. */
export const keyListRepository = (db: Connection) => ({
  page: (accountId: AccountId, filters: KeyFilters, page: Page): Promise<License[]> =>
    lists.of(db, { accountId }, toFilters(accountId, filters)).part(page),

  /** On all pages. */
  count: (accountId: AccountId, filters: KeyFilters): Promise<number> =>
    lists.sum(db, { accountId }, termsOf(accountId, filters)),
});

/**
 * What is counted, by what indexes hold: most keys are active, paid and node-locked, so the others are taken off. Where
 * another filter finds the keys, each of them is looked at anyway.
 */
function termsOf(accountId: AccountId, filters: KeyFilters): Term[] {
  const { status, trial, licenseType, text, metadata } = filters;
  const others: Filter[][] = [];
  const rest = { ...filters };
  if (text === undefined && !metadata?.length) {
    if (status?.is === 'active') {
      others.push([isDisabled, byEnd(isExpired(status.now))]);
      rest.status = undefined;
    }
    if (trial === false) {
      others.push([isTrial]);
      rest.trial = undefined;
    }
    if (licenseType === 'node-locked') {
      others.push([ofType('floating')]);
      rest.licenseType = undefined;
    }
  }
  const all: Term = { filters: toFilters(accountId, rest), isTakenOff: false };
  return others.reduce(
    (terms, excluded) =>
      terms.flatMap((term) => [
        term,
        ...excluded.map((one) => ({ filters: [...term.filters, one], isTakenOff: !term.isTakenOff })),
      ]),
    [all],
  );
}

/** A condition that few keys meet, which an index finds by their end. */
const byEnd = (condition: Sql): Filter => ({ condition, inOrderOf: 'expires_at' });

const ofType = (type: License['licenseType']) => raw(`licenses.license_type = '${type}'`);

const statusFilters: Record<KeyStatus, (now: Instant, until: Instant) => Filter> = {
  active: isActive,
  unused: isUnused,
  full: (now) => sql`(case when licenses.activations >= licenses.max_activations then 1 end) = 1 and ${isFull(now)}`,
  expiring: (now, until) => byEnd(isExpiring(now, until)),
  expired: (now) => byEnd(isExpired(now)),
  blocked: () => isBlocked,
  revoked: () => sql`(case when licenses.revoked_at is not null then 1 end) = 1 and ${isRevoked}`,
};

function toFilters(accountId: AccountId, wanted: KeyFilters): Filter[] {
  const { productIds, customerId, status, trial, licenseType, fromId, beforeId, expiresFrom, expiresBefore } = wanted;
  const filters: Filter[] = [];
  if (productIds !== null) filters.push({ column: 'product_id', oneOf: productIds });
  if (customerId !== undefined) filters.push(sql`licenses.customer_id = ${customerId}`);
  if (wanted.planId !== undefined) filters.push(sql`licenses.plan_id = ${wanted.planId}`);
  if (status !== undefined) filters.push(statusFilters[status.is](status.now, status.until));
  if (trial !== undefined) filters.push(trial ? isTrial : sql`licenses.is_trial = 0`);
  if (licenseType !== undefined) filters.push(ofType(licenseType));
  if (fromId !== undefined) filters.push(sql`licenses.id >= ${fromId}`);
  if (beforeId !== undefined) filters.push(sql`licenses.id < ${beforeId}`);
  if (expiresFrom !== undefined) filters.push(byEnd(sql`licenses.expires_at >= ${expiresFrom}`));
  if (expiresBefore !== undefined) filters.push(byEnd(sql`licenses.expires_at < ${expiresBefore}`));
  if (wanted.text !== undefined) filters.push({ found: idsFoundBy(accountId, wanted.text) });
  for (const [name, value] of wanted.metadata ?? []) {
    const found = sql`select m.license_id as id from license_metadata as m
      where m.account_id = ${accountId} and m.name = ${name} and m.value = ${value}`;
    filters.push({ found, isInOrder: true });
  }
  return filters;
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
    select p.license_id as id from previous_keys as p where p.account_id = ${accountId} and p.license_key = ${key}`);
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
