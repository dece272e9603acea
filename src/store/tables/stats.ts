import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { KeyCounts } from '../../contract/stats.ts';
import type { License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { dynamicStatement, type Parameter, type Statement } from '../engine/statement.ts';
import type { RowOf } from '../table.ts';
import {
  isActive,
  isBlocked,
  isExpired,
  isExpiring,
  isFull,
  isTrial,
  isUnused,
  type licenseColumns,
  toLicense,
} from './keys/licenses.ts';

/** What is counted: the keys of an account, or of one of its products. */
export interface StatsScope {
  readonly accountId: AccountId;
  /** Null means all. */
  readonly productId: string | null;
}

/** How many keys of a product were created on a day, and what is so of them at a time. */
export interface CountedKeys {
  readonly productId: string;
  /** UTC, as `2026-11-21`. */
  readonly day: string;
  readonly counts: Readonly<KeyCounts>;
  readonly devices: number;
}

/** Read at a time: a server that counts a million keys answers others in between. */
const BATCH_SIZE = 5_000;

const countBatch = perScope<CountRow>((scope, $) => {
  const [now, until] = [$('now'), $('until')];
  const conditions: Record<keyof KeyCounts, RawBuilder<unknown>> = {
    total: sql`1 = 1`,
    active: isActive(now),
    unused: isUnused(now),
    full: isFull(now),
    expiring: isExpiring(now, until),
    expired: isExpired(now),
    blocked: isBlocked,
    trial: isTrial,
  };
  const sums = Object.entries(conditions).map(
    ([name, condition]) => sql`sum(case when ${condition} then 1 else 0 end) as ${sql.ref(name)}`,
  );
  return sql`
    select product_id, substr(created_at, 1, 10) as day, max(id) as last, sum(activations) as devices, ${sql.join(sums)}
    from (
      select * from licenses where ${scope(sql`product_id`)} and id > ${$('after')}
      order by id limit ${sql.lit(BATCH_SIZE)}
    ) as licenses
    group by product_id, substr(created_at, 1, 10)`;
});

type CountRow = { product_id: string; day: string; last: string; devices: unknown } & Record<keyof KeyCounts, unknown>;

const countDevices = perScope<{ count: unknown }>(
  (scope, $) => sql`
    select count(*) as count from devices
    where account_id = ${$('accountId')} and created_at >= ${$('from')} and created_at < ${$('before')}
      and ${ofScope('devices', scope)}`,
);

const countSessions = perScope<{ count: unknown }>(
  (scope, $) => sql`
    select count(*) as count from sessions
    where account_id = ${$('accountId')} and expires_at > ${$('now')} and ${ofScope('sessions', scope)}`,
);

// The product stands in an expression, so that no planner reads all keys of the product for the first of them.
const fullest = perScope<LicenseRow>(
  (scope, $) => sql`
    select * from licenses where ${scope(sql`(product_id || '')`)} and ${isActive($('now'))}
      and max_activations > 1 and activations > 0
    order by activations * 100 / max_activations desc, id desc limit ${$('limit')}`,
);

const nextToExpire = perScope<LicenseRow>(
  (scope, $) => sql`
    select * from licenses where ${scope(sql`(product_id || '')`)} and vendor_disabled = 0 and expires_at > ${$('now')}
    order by expires_at, id limit ${$('limit')}`,
);

type LicenseRow = RowOf<typeof licenseColumns>;

/** Statistics of keys, devices and sessions. */
export const statsRepository = (db: Connection) => ({
  /** Counts the keys, batch by batch. Each is counted once, as it is when its batch is read. */
  async *countKeys(scope: StatsScope, time: { now: Instant; until: Instant }): AsyncGenerator<CountedKeys> {
    for (let after = ''; ; ) {
      const rows = await db.all(countBatch(scope), { ...scope, ...time, after });
      for (const { product_id: productId, day, devices, ...sums } of rows) {
        yield { productId, day, devices: Number(devices), counts: numbersOf(sums) };
      }
      if (rows.reduce((sum, { total }) => sum + Number(total), 0) < BATCH_SIZE) return;
      after = rows.reduce((latest, { last }) => (last > latest ? last : latest), after);
      await nextTurn();
    }
  },

  /** How many of the devices were activated in a span of time. */
  async countDevices(scope: StatsScope, span: { from: Instant; before: Instant }): Promise<number> {
    return Number((await db.first(countDevices(scope), { ...scope, ...span }))?.count ?? 0);
  },

  /** How many sessions are leased. */
  async countSessions(scope: StatsScope, now: Instant): Promise<number> {
    return Number((await db.first(countSessions(scope), { ...scope, now }))?.count ?? 0);
  },

  /** Active keys with several slots, the fullest first. */
  async fullest(scope: StatsScope, now: Instant, limit: number): Promise<License[]> {
    return (await db.all(fullest(scope), { ...scope, now, limit })).map(toLicense);
  },

  /** Active keys with an end, those that expire next first. */
  async nextToExpire(scope: StatsScope, now: Instant, limit: number): Promise<License[]> {
    return (await db.all(nextToExpire(scope), { ...scope, now, limit })).map(toLicense);
  },
});

/** The condition of a scope, with what names the product of a row. */
type ScopeCondition = (product: RawBuilder<unknown>) => RawBuilder<unknown>;

type Build = (scope: ScopeCondition, $: Parameter) => RawBuilder<unknown>;

/** A statement for an account, and one for a product. */
function perScope<R>(build: Build): (scope: StatsScope) => Statement<object, R> {
  const make = (ofProduct: boolean) =>
    dynamicStatement<object, R>((db, $) => {
      const account = sql`account_id = ${$('accountId')}`;
      const scope: ScopeCondition = (product) =>
        ofProduct ? sql`${account} and ${product} = ${$('productId')}` : account;
      return { compile: () => build(scope, $).compile(db) };
    });
  const [ofAccount, ofProduct] = [make(false), make(true)];
  return ({ productId }) => (productId === null ? ofAccount : ofProduct);
}

/** Whether a row of a table belongs to a licence of the scope. */
const ofScope = (table: 'devices' | 'sessions', scope: ScopeCondition) =>
  sql`exists (select 1 from licenses where ${scope(sql`product_id`)} and id = ${sql.ref(`${table}.license_id`)})`;

const numbersOf = (sums: Readonly<Record<keyof KeyCounts, unknown>>): KeyCounts => ({
  total: Number(sums.total),
  active: Number(sums.active),
  unused: Number(sums.unused),
  full: Number(sums.full),
  expiring: Number(sums.expiring),
  expired: Number(sums.expired),
  blocked: Number(sums.blocked),
  trial: Number(sums.trial),
});
