import type { KeyStatus } from '../../../contract/keys/lists.ts';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { Findable } from '../../../domain/access.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { and, join, raw, Sql, sql } from '../../engine/sql.ts';
import { type Filter, isAmong } from '../../list-filters.ts';
import { listsOf, type Page, type Term } from '../../lists.ts';
import { beginsWith } from '../../search.ts';
import {
  DAY_LENGTH,
  dayOfEnd,
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
  MONTH_LENGTH,
  monthOfEnd,
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
  page: (accountId: AccountId, { beforeId, ...filters }: KeyFilters, page: Page): Promise<License[]> => {
    // One bound in place of two: of these SQLite expects that they leave few keys, and then uses no other index.
    const [after] = [beforeId, page.after].filter((one) => one !== undefined).sort();
    return lists.of(db, { accountId }, toFilters(accountId, filters)).part({ ...page, after });
  },

  /** On all pages. */
  count: (accountId: AccountId, filters: KeyFilters): Promise<number> =>
    lists.sum(db, { accountId }, termsOf(accountId, filters)),
});

/**
 * What is counted, by what indexes hold: most keys are active, paid and node-locked, so the others are taken off. Where
 * another filter finds the keys, each of them is looked at anyway.
 */
function termsOf(accountId: AccountId, filters: KeyFilters): Term[] {
  const { customerId, status, trial, licenseType, text, metadata } = filters;
  const others: Filter[][] = [];
  const rest = { ...filters };
  if (customerId === undefined && text === undefined && !metadata?.length) {
    if (status?.is === 'active') {
      others.push([isDisabled, byEnd([ended(status.now)])]);
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

/** A condition that only keys meet which end in a span of time. */
interface Ends {
  readonly condition: Sql;
  readonly from?: Instant;
  readonly to?: Instant;
}

/** All of these conditions: indexes have keys by the months of their ends, and by the days. */
function byEnd(ends: readonly Ends[]): Filter {
  const from = ends
    .flatMap((one) => one.from ?? [])
    .sort()
    .at(-1);
  const [to] = ends.flatMap((one) => one.to ?? []).sort();
  return {
    condition: and(ends.map(({ condition }) => condition)),
    group: monthOfEnd,
    hasGroup: raw('licenses.expires_at is not null'),
    first: from?.slice(0, MONTH_LENGTH),
    last: to?.slice(0, MONTH_LENGTH),
    divide: (month) =>
      daysOf(month)
        .filter((day) => day >= (from ?? day).slice(0, DAY_LENGTH) && day <= (to ?? day).slice(0, DAY_LENGTH))
        .map((day) => sql`${dayOfEnd} = ${day}`),
  };
}

/** Of any month the 31 days that one may have. */
const daysOf = (month: string): string[] =>
  Array.from({ length: 31 }, (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`);

/** Whether other filters leave few keys, which an index has: in parts, one for each product, it would be read for each. */
const isRare = ({ planId, status, trial, licenseType }: KeyFilters): boolean =>
  planId !== undefined ||
  trial === true ||
  licenseType === 'floating' ||
  status?.is === 'blocked' ||
  status?.is === 'revoked';

/** Whether keys by their ends are no better: then each that other filters leave is looked at, in the order of the list. */
const leavesFew = (filters: KeyFilters): boolean =>
  isRare(filters) || filters.status?.is === 'unused' || filters.status?.is === 'full';

const ofType = (type: License['licenseType']) => raw(`licenses.license_type = '${type}'`);

const ended = (now: Instant): Ends => ({ condition: isExpired(now), to: now });

const statusFilters: Record<KeyStatus, (now: Instant, until: Instant) => Sql | Ends> = {
  active: isActive,
  unused: isUnused,
  full: (now) => sql`(case when licenses.activations >= licenses.max_activations then 1 end) = 1 and ${isFull(now)}`,
  expiring: (now, until) => ({ condition: isExpiring(now, until), from: now, to: until }),
  expired: ended,
  blocked: () => isBlocked,
  revoked: () => sql`(case when licenses.revoked_at is not null then 1 end) = 1 and ${isRevoked}`,
};

function toFilters(accountId: AccountId, wanted: KeyFilters): Filter[] {
  const { productIds, customerId, status, trial, licenseType, fromId, beforeId, expiresFrom, expiresBefore } = wanted;
  const filters: Filter[] = [];
  const ends: Ends[] = [];
  if (productIds !== null) {
    const value = raw('licenses.product_id');
    filters.push(isRare(wanted) ? isAmong(value, productIds) : { value, oneOf: productIds });
  }
  if (customerId !== undefined) {
    const found = sql`select l.id from licenses as l where l.account_id = ${accountId} and l.customer_id = ${customerId}`;
    filters.push({ found, isInOrder: true });
  }
  if (wanted.planId !== undefined) filters.push(sql`licenses.plan_id = ${wanted.planId}`);
  if (status !== undefined) {
    const filter = statusFilters[status.is](status.now, status.until);
    if (filter instanceof Sql) filters.push(filter);
    else ends.push(filter);
  }
  if (trial !== undefined) filters.push(trial ? isTrial : sql`licenses.is_trial = 0`);
  if (licenseType !== undefined) filters.push(ofType(licenseType));
  if (fromId !== undefined) filters.push(sql`licenses.id >= ${fromId}`);
  if (beforeId !== undefined) filters.push(sql`licenses.id < ${beforeId}`);
  if (expiresFrom !== undefined)
    ends.push({ condition: sql`licenses.expires_at >= ${expiresFrom}`, from: expiresFrom });
  if (expiresBefore !== undefined)
    ends.push({ condition: sql`licenses.expires_at < ${expiresBefore}`, to: expiresBefore });
  if (ends.length > 0) filters.push(...(leavesFew(wanted) ? ends.map(({ condition }) => condition) : [byEnd(ends)]));
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
