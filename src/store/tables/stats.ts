import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { KeyCounts } from '../../contract/stats.ts';
import type { Connection } from '../engine/driver.ts';
import { isAmong, join, raw, type Sql, sql } from '../engine/sql.ts';
import {
  besideLicense,
  isActive,
  isBlocked,
  isExpired,
  isExpiring,
  isFull,
  isRevoked,
  isTrial,
  isUnused,
  type NamedLicense,
  readNamed,
} from './keys/licenses.ts';

/** The scope of statistics: an account, or some of its products; null means all products. */
export interface StatsScope {
  readonly accountId: AccountId;
  readonly productIds: readonly string[] | null;
}

/** The number of rows of a product, or of a day (UTC, as `2026-11-21`). */
type Counted<By extends string> = Readonly<Record<By, string>> & { readonly count: number };

/** Statistics of keys, devices and sessions. */
export const statsRepository = (db: Connection) => ({
  /** The keys of each product, by status. */
  async keysByProduct(scope: StatsScope, { now, until }: { readonly now: Instant; readonly until: Instant }) {
    const conditions: Record<keyof KeyCounts, Sql> = {
      total: sql`1 = 1`,
      active: isActive(now),
      unused: isUnused(now),
      full: isFull(now),
      expiring: isExpiring(now, until),
      expired: isExpired(now),
      blocked: isBlocked,
      revoked: isRevoked,
      trial: isTrial,
    };
    const sums = Object.entries(conditions).map(
      ([name, condition]) => sql`sum(case when ${condition} then 1 else 0 end) as ${raw(name)}`,
    );
    type Counts = { product_id: string; product_name: string } & Record<keyof KeyCounts, unknown>;
    const rows = await db.all<Counts>(sql`
      select counted.*, p.name as product_name
      from (select product_id, ${join(sums)} from licenses where ${isIn(scope)} group by product_id) as counted
        join products as p on p.account_id = ${scope.accountId} and p.id = counted.product_id`);
    return rows.map(({ product_id: productId, product_name: productName, ...counts }) => ({
      ...{ productId, productName },
      ...numbersOf(counts),
    }));
  },

  /** How many devices hold a slot of these keys. */
  devices: (scope: StatsScope): Promise<number> => countHeld(db, raw('devices'), scope, sql`1 = 1`),

  /** How many sessions of these keys are leased now. */
  sessions: (scope: StatsScope, now: Instant): Promise<number> =>
    countHeld(db, raw('sessions'), scope, sql`held.expires_at > ${now}`),

  /** The keys that were created since an instant, by day. */
  issuedSince: (scope: StatsScope, from: Instant): Promise<Counted<'day'>[]> =>
    byDay(
      db,
      sql`
      select substr(created_at, 1, 10) as day, count(*) as count
      from licenses where ${isIn(scope)} and created_at >= ${from} group by 1`,
    ),

  /** The devices that were activated since an instant, and still hold their slots, by day. */
  activatedSince: (scope: StatsScope, from: Instant): Promise<Counted<'day'>[]> =>
    byDay(
      db,
      sql`
      select substr(held.created_at, 1, 10) as day, count(*) as count
      from devices as held join licenses on licenses.account_id = held.account_id and licenses.id = held.license_id
      where ${isHeldIn(scope)} and held.created_at >= ${from} group by 1`,
    ),

  /** Active keys with several slots, the fullest first. */
  fullest: (scope: StatsScope, now: Instant, limit: number): Promise<NamedLicense[]> =>
    named(
      db,
      sql`
      select * from licenses where ${isIn(scope)} and ${isActive(now)} and max_activations > 1 and activations > 0
      order by activations * 100 / max_activations desc, id desc limit ${limit}`,
      sql`listed.activations * 100 / listed.max_activations desc, listed.id desc`,
    ),

  /** Active keys with an end, in the order of their ends. */
  nextToExpire: (scope: StatsScope, now: Instant, limit: number): Promise<NamedLicense[]> =>
    named(
      db,
      sql`
      select * from licenses where ${isIn(scope)} and vendor_disabled = 0 and expires_at > ${now}
      order by expires_at, id limit ${limit}`,
      sql`listed.expires_at, listed.id`,
    ),
});

/** The licences that a query finds, with their names, in an order. */
const named = (db: Connection, found: Sql, order: Sql): Promise<NamedLicense[]> =>
  db.all(
    sql`select listed.*, ${besideLicense.columns} from (${found}) as listed ${besideLicense.joins} order by ${order}`,
    readNamed,
  );

async function byDay(db: Connection, statement: Sql): Promise<Counted<'day'>[]> {
  const rows = await db.all<{ day: string; count: unknown }>(statement);
  return rows.map(({ day, count }) => ({ day, count: Number(count) }));
}

/** How many rows of a table belong to the keys of a scope. */
async function countHeld(db: Connection, table: Sql, scope: StatsScope, condition: Sql): Promise<number> {
  const row = await db.first<{ count: unknown }>(sql`
    select count(*) as count
    from ${table} as held join licenses on licenses.account_id = held.account_id and licenses.id = held.license_id
    where ${isHeldIn(scope)} and ${condition}`);
  return Number(row?.count ?? 0);
}

const isHeldIn = ({ accountId, productIds }: StatsScope): Sql =>
  sql`held.account_id = ${accountId} and ${hasProductOf(productIds)}`;

const isIn = ({ accountId, productIds }: StatsScope): Sql =>
  sql`licenses.account_id = ${accountId} and ${hasProductOf(productIds)}`;

/** The product is in an expression, so that planners do not read all keys of a product to find the first keys. */
const hasProductOf = (productIds: StatsScope['productIds']): Sql =>
  productIds === null ? raw('1 = 1') : isAmong(raw(`(licenses.product_id || '')`), productIds);

const numbersOf = (sums: Readonly<Record<keyof KeyCounts, unknown>>): KeyCounts =>
  Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, Number(sum)])) as unknown as KeyCounts;
