import { sql } from 'kysely';
import type { EventType } from '../../../contract/events.ts';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { DisabledReason, PayloadVersion } from '../../../contract/webhooks/webhook.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import { listsOf, type Page } from '../../lists.ts';
import { type Secrets, secretContext } from '../../secrets.ts';
import {
  byKey,
  type Changes,
  flag,
  insertInto,
  integer,
  json,
  optional,
  type RecordOf,
  readerOf,
  type Table,
  text,
} from '../../table.ts';

export const webhookColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  url: text()('url'),
  types: optional(json<EventType[]>()('types')),
  description: optional(text()('description')),
  reveal: flag()('reveal'),
  ordered: flag()('ordered'),
  active: flag()('active'),
  apiVersion: text<PayloadVersion>()('api_version'),
  /** Sealed where the database has a master key. */
  secret: text()('secret'),
  previousSecret: optional(text()('previous_secret')),
  previousSecretUntil: optional(text<Instant>()('previous_secret_until')),
  /** Every event up to this number was sent once, or is not for this webhook. */
  lastSeq: integer()('last_seq'),
  /** When the first of its deliveries is due that failed. */
  retryAt: optional(text<Instant>()('retry_at')),
  /** Until when its receiver asked to be left alone. */
  pausedUntil: optional(text<Instant>()('paused_until')),
  /** Which server works for it. */
  lease: optional(text()('lease')),
  /** Until when that server may work for it, by the real time. */
  leaseUntil: optional(text<Instant>()('lease_until')),
  /** When a server last began to work for it, by the real time. */
  servedAt: optional(text<Instant>()('served_at')),
  failingSince: optional(text<Instant>()('failing_since')),
  disabledAt: optional(text<Instant>()('disabled_at')),
  disabledReason: optional(text<DisabledReason>()('disabled_reason')),
  createdAt: text<Instant>()('created_at'),
  updatedAt: text<Instant>()('updated_at'),
};

/** An address that events are sent to, and how far it has come. */
export type WebhookRecord = RecordOf<typeof webhookColumns>;

const webhooks: Table<typeof webhookColumns> = { name: 'webhooks', columns: webhookColumns };
const insert = insertInto(webhooks);
const read = readerOf(webhooks);
const byId = byKey(webhooks, ['accountId', 'id'], read);
const lists = listsOf(webhooks, read, { scope: ['accountId'], order: 'id', conditions: {} });

/** Names a webhook. */
export interface ById {
  readonly accountId: AccountId;
  readonly id: string;
}

/** Webhooks that are looked at in one go. */
const MAX_DUE = 256;

const due = statement<{ now: Instant; realTime: Instant }>()((db, $) =>
  db
    .selectFrom('webhooks as w')
    .innerJoin('record_heads as h', 'h.account_id', 'w.account_id')
    .select(['w.account_id', 'w.id'])
    .where('w.active', '=', sql.lit(1))
    .where((w) => w.or([w('w.lease_until', 'is', null), w('w.lease_until', '<=', $.realTime)]))
    .where((w) => w.or([w('w.paused_until', 'is', null), w('w.paused_until', '<=', $.now)]))
    .where((w) =>
      w.or([
        w('w.retry_at', '<=', $.now),
        w.and([
          w('w.last_seq', '<', w.ref('h.event_seq')),
          w.or([w('w.ordered', '=', sql.lit(0)), w('w.retry_at', 'is', null)]),
        ]),
      ]),
    )
    // Said to both: SQLite puts nulls first, PostgreSQL last.
    .orderBy('w.served_at', (order) => order.asc().nullsFirst())
    .orderBy('w.account_id')
    .orderBy('w.id')
    .limit(sql.lit(MAX_DUE)),
);

const claim = statement<ById & { lease: string; realTime: Instant; until: Instant }>()((db, $) =>
  db
    .updateTable('webhooks')
    .set({ lease: $.lease, lease_until: $.until, served_at: $.realTime })
    .where('account_id', '=', $.accountId)
    .where('id', '=', $.id)
    .where('active', '=', sql.lit(1))
    .where((w) => w.or([w('lease_until', 'is', null), w('lease_until', '<=', $.realTime)]))
    .returningAll(),
);

const release = statement<{ lease: string }>()((db, $) =>
  db.updateTable('webhooks').set({ lease: null, lease_until: null }).where('lease', '=', $.lease),
);

const releaseAll = statement<Record<never, never>>()((db) =>
  db.updateTable('webhooks').set({ lease: null, lease_until: null }).where('lease', 'is not', null),
);

// What is put right when a clock was wrong: times that it has written say nothing.

const retryNow = statement<{ latest: Instant; now: Instant }>()((db, $) =>
  db.updateTable('webhooks').set({ retry_at: $.now }).where('retry_at', '>', $.latest),
);

const endPauses = statement<{ latest: Instant }>()((db, $) =>
  db.updateTable('webhooks').set({ paused_until: null }).where('paused_until', '>', $.latest),
);

const endLeases = statement<{ latest: Instant }>()((db, $) =>
  db.updateTable('webhooks').set({ lease: null, lease_until: null }).where('lease_until', '>', $.latest),
);

const failingFrom = statement<{ now: Instant }>()((db, $) =>
  db.updateTable('webhooks').set({ failing_since: $.now }).where('failing_since', 'is not', null),
);

/** The webhooks of accounts. */
export function webhookRepository(db: Connection, { sealSecret, openSecret }: Secrets) {
  const open = (webhook: WebhookRecord): WebhookRecord => {
    const { secret, previousSecret } = webhook;
    const context = contextOf(webhook);
    return {
      ...webhook,
      secret: openSecret(secret, context),
      previousSecret: previousSecret && openSecret(previousSecret, context),
    };
  };
  const sealed = <T extends WebhookChanges>(of: ById, webhook: T): T => {
    const { secret, previousSecret } = webhook;
    const context = contextOf(of);
    return {
      ...webhook,
      ...(secret !== undefined && { secret: sealSecret(secret, context) }),
      ...(previousSecret !== undefined && { previousSecret: previousSecret && sealSecret(previousSecret, context) }),
    };
  };
  const openOrNull = (webhook: WebhookRecord | null) => webhook && open(webhook);
  return {
    async insert(webhook: WebhookRecord): Promise<void> {
      await db.run(insert, sealed(webhook, webhook));
    },

    find: (accountId: AccountId, id: string) => byId.find(db, { accountId, id }).then(openOrNull),

    /** The webhook, which nobody else changes until this transaction ends. */
    lock: (accountId: AccountId, id: string) => byId.lock(db, { accountId, id }).then(openOrNull),

    /** Webhooks, oldest first. */
    async list(accountId: AccountId, page: Page): Promise<WebhookRecord[]> {
      return (await lists.page(db, { accountId }, page)).map(open);
    },

    count: (accountId: AccountId): Promise<number> => lists.count(db, { accountId }),

    /** All webhooks, oldest first. */
    async *listAll(accountId: AccountId): AsyncGenerator<WebhookRecord> {
      for await (const webhook of lists.walk(db, { accountId })) yield open(webhook);
    },

    /** Changes what is given, and returns the webhook as it is then. */
    async patch({ accountId, id }: ById, changes: WebhookChanges): Promise<WebhookRecord> {
      const changed = await byId.patch(db, { accountId, id }, sealed({ accountId, id }, changes));
      if (changed === null) throw new Error(`webhook ${id} was not locked`);
      return open(changed);
    },

    /** Removes a webhook with its deliveries; false when there is none. */
    remove: (accountId: AccountId, id: string): Promise<boolean> => byId.remove(db, { accountId, id }),

    /** Webhooks with something to send now, for which no server works; those that were served longest ago come first. */
    async listDue(now: Instant, realTime: Instant): Promise<ById[]> {
      return (await db.all(due, { now, realTime })).map((row) => ({ accountId: row.account_id, id: row.id }));
    },

    /** Takes the lease of a webhook; null when another server has it, or when the webhook is gone or not active. */
    async claim(
      webhook: ById,
      lease: { lease: string; realTime: Instant; until: Instant },
    ): Promise<WebhookRecord | null> {
      const row = await db.first(claim, { ...webhook, ...lease });
      return row === undefined ? null : open(read(row));
    },

    /** Gives a lease back. */
    async release(lease: string): Promise<void> {
      await db.run(release, { lease });
    },

    /** Makes due now what would be due after an instant, and ends pauses and leases that would last longer. */
    async makeDue(latest: Instant, now: Instant): Promise<void> {
      await db.run(retryNow, { latest, now });
      await db.run(endPauses, { latest });
      await db.run(endLeases, { latest });
    },

    /** Those that fail have failed from now on only. */
    async restartFailing(now: Instant): Promise<void> {
      await db.run(failingFrom, { now });
    },

    /** Ends all leases: where no other server can have one. */
    async releaseAll(): Promise<void> {
      await db.run(releaseAll, {});
    },
  };
}

const contextOf = ({ accountId, id }: ById): string => secretContext('webhooks', accountId, id);

/** New values of a webhook; what is undefined stays. */
export type WebhookChanges = Changes<typeof webhookColumns>;
