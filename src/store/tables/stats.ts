import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { KeyCounts } from '../../contract/stats.ts';
import type { License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { join, raw, type Sql, sql } from '../engine/sql.ts';
import { countOf } from '../table.ts';
import {
  isActive,
  isBlocked,
  isExpired,
  isExpiring,
  isFull,
  isRevoked,
  isTrial,
  isUnused,
  licenses,
  MONTH_LENGTH,
  monthOfEnd,
} from './keys/licenses.ts';

/** What is counted: the keys of an account, or of one of its products; null means all. */
export interface StatsScope {
  readonly accountId: AccountId;
  readonly productId: string | null;
}

/** Read at a time: a server that counts a million keys answers others in between. */
const BATCH_SIZE = 5_000;

type CountRow = { product_id: string; day: string; last: string; devices: unknown } & Record<keyof KeyCounts, unknown>;

/** Statistics of keys, devices and sessions. */
export const statsRepository = (db: Connection) => ({
  /** Counts keys by product and day (UTC, as `2026-11-21`), batch by batch: each once, as it is when its batch is read. */
  async *countKeys(scope: StatsScope, { now, until }: { now: Instant; until: Instant }) {
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
    for (let after = ''; ; ) {
      const rows = await db.all<CountRow>(sql`
        select product_id, substr(created_at, 1, 10) as day, max(id) as last, sum(activations) as devices, ${join(sums)}
        from (
          select * from licenses where ${isIn(scope)} and id > ${after} order by id limit ${BATCH_SIZE}
        ) as licenses
        group by product_id, substr(created_at, 1, 10)`);
      for (const { product_id: productId, day, devices, last: _last, ...sums } of rows) {
        yield { productId, day, devices: Number(devices), counts: numbersOf(sums) };
      }
      if (rows.reduce((sum, { total }) => sum + Number(total), 0) < BATCH_SIZE) return;
      after = rows.reduce((latest, { last }) => (last > latest ? last : latest), after);
      await nextTurn();
    }
  },

  /** How many of the devices were activated in a span of time. */
  countDevices: (scope: StatsScope, { from, before }: { from: Instant; before: Instant }) =>
    countOf(
      db,
      sql`devices where account_id = ${scope.accountId} and created_at >= ${from} and created_at < ${before}
        and ${hasLicenseIn(scope, 'devices')}`,
    ),

  countSessions: (scope: StatsScope, now: Instant) =>
    countOf(
      db,
      sql`sessions where account_id = ${scope.accountId} and expires_at > ${now} and ${hasLicenseIn(scope, 'sessions')}`,
    ),

  /** Active keys with several slots, the fullest first. */
  fullest: (scope: StatsScope, now: Instant, limit: number): Promise<License[]> => licenses.all(db)`
    select * from licenses where ${isIn(scope, PRODUCT)} and ${isActive(now)} and max_activations > 1 and activations > 0
    order by activations * 100 / max_activations desc, id desc limit ${limit}`,

  /** Active keys with an end, those that expire next first. */
  nextToExpire: (scope: StatsScope, now: Instant, limit: number): Promise<License[]> => licenses.all(db)`
    select * from licenses where ${isIn(scope, PRODUCT)} and vendor_disabled = 0 and expires_at > ${now}
      and ${monthOfEnd} >= ${now.slice(0, MONTH_LENGTH)}
    order by ${monthOfEnd}, expires_at, id limit ${limit}`,
});

/** In an expression, so that no planner reads all keys of the product for the first of them. */
const PRODUCT = sql`(product_id || '')`;

/** Whether a licence is in a scope; `product` names its product. */
const isIn = ({ accountId, productId }: StatsScope, product = sql`product_id`): Sql =>
  productId === null ? sql`account_id = ${accountId}` : sql`account_id = ${accountId} and ${product} = ${productId}`;

/** Whether a row of a table belongs to a licence of the scope. */
const hasLicenseIn = (scope: StatsScope, table: 'devices' | 'sessions'): Sql =>
  sql`exists (select 1 from licenses where ${isIn(scope)} and id = ${raw(`${table}.license_id`)})`;

const numbersOf = (sums: Readonly<Record<keyof KeyCounts, unknown>>): KeyCounts =>
  Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, Number(sum)])) as unknown as KeyCounts;
