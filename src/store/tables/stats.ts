import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { KeyCounts } from '../../contract/stats.ts';
import type { License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { join, raw, type Sql, sql } from '../engine/sql.ts';
import { integer, json, type RecordOf, tableOf, text } from '../table.ts';
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
} from './keys/licenses.ts';

/** Whose keys are listed: those of an account, or of one of its products; null means all. */
export interface StatsScope {
  readonly accountId: AccountId;
  readonly productId: string | null;
}

/** What was counted of a product. Weeks are those of the account's counts, oldest first. */
export interface ProductCounts {
  readonly productId: string;
  readonly keys: KeyCounts;
  readonly devices: number;
  readonly sessions: number;
  readonly issuedPerWeek: readonly number[];
  readonly activatedPerWeek: readonly number[];
}

const counts = tableOf('account_counts', {
  accountId: text<AccountId>('account_id'),
  countedAt: text<Instant>('counted_at'),
  customers: integer('customers'),
  products: json<readonly ProductCounts[]>('products'),
});

/** What was counted of an account, by product. */
export type AccountCounts = RecordOf<typeof counts.columns>;

/** Read at a time: a server that counts a million keys answers others in between. */
const BATCH_SIZE = 5_000;

type CountRow = { product_id: string; day: string; last: string } & Record<keyof KeyCounts, unknown>;

/** Statistics of keys, devices and sessions. */
export const statsRepository = (db: Connection) => ({
  find: (accountId: AccountId) => counts.find(db, { accountId }),

  /** Puts counts in the place of those before them. */
  keep: (found: AccountCounts) =>
    counts.insert(
      db,
      found,
      sql`on conflict (account_id) do update
        set counted_at = excluded.counted_at, customers = excluded.customers, products = excluded.products`,
    ),

  forget: (accountId: AccountId) => counts.remove(db, { accountId }),

  hasMoreThan: async (accountId: AccountId, count: number): Promise<boolean> =>
    (await db.first(
      sql`select id from licenses where account_id = ${accountId} order by id limit 1 offset ${count}`,
    )) !== null,

  /**
   * Counts keys, and the devices and sessions that hold their slots, by product and day (UTC, as `2026-11-21`) of creation,
   * batch by batch: each key once, as it is when its batch is read.
   */
  async *count(accountId: AccountId, { now, until }: { now: Instant; until: Instant }) {
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
      const keys = await db.all<CountRow>(sql`
        select product_id, substr(created_at, 1, 10) as day, max(id) as last, ${join(sums)}
        from (
          select * from licenses where account_id = ${accountId} and id > ${after} order by id limit ${BATCH_SIZE}
        ) as licenses
        group by product_id, substr(created_at, 1, 10)`);
      const last = keys.reduce((latest, row) => (row.last > latest ? row.last : latest), after);
      /** How many rows of a table belong to the keys of the batch. */
      const heldBy = async (table: Sql, day: Sql, condition = sql`1 = 1`) => {
        const rows = await db.all<{ product_id: string; day: string; count: unknown }>(sql`
          select product_id, ${day} as day, count(*) as count
          from ${table} as held join licenses on licenses.account_id = held.account_id and licenses.id = held.license_id
          where held.account_id = ${accountId} and held.license_id > ${after} and held.license_id <= ${last} and ${condition}
          group by 1, 2`);
        return rows.map((row) => ({ productId: row.product_id, day: row.day, count: Number(row.count) }));
      };
      yield {
        keys: keys.map(({ product_id: productId, day, last: _last, ...sums }) => ({
          productId,
          day,
          counts: numbersOf(sums),
        })),
        devices: await heldBy(raw('devices'), raw('substr(held.created_at, 1, 10)')),
        sessions: await heldBy(raw('sessions'), raw(`''`), sql`held.expires_at > ${now}`),
      };
      if (keys.reduce((sum, { total }) => sum + Number(total), 0) < BATCH_SIZE) return;
      after = last;
      await nextTurn();
    }
  },

  /** Active keys with several slots, the fullest first. */
  fullest: (scope: StatsScope, now: Instant, limit: number): Promise<License[]> => licenses.all(db)`
    select * from licenses where ${isIn(scope)} and ${isActive(now)} and max_activations > 1 and activations > 0
    order by activations * 100 / max_activations desc, id desc limit ${limit}`,

  /** Active keys with an end, those that expire next first. */
  nextToExpire: (scope: StatsScope, now: Instant, limit: number): Promise<License[]> => licenses.all(db)`
    select * from licenses where ${isIn(scope)} and vendor_disabled = 0 and expires_at > ${now}
    order by expires_at, id limit ${limit}`,
});

/** The product is in an expression, so that no planner reads all keys of the product for the first of them. */
const isIn = ({ accountId, productId }: StatsScope): Sql =>
  productId === null
    ? sql`account_id = ${accountId}`
    : sql`account_id = ${accountId} and (product_id || '') = ${productId}`;

const numbersOf = (sums: Readonly<Record<keyof KeyCounts, unknown>>): KeyCounts =>
  Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, Number(sum)])) as unknown as KeyCounts;
