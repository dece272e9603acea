import type { EventType } from '../../../contract/events.ts';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { DisabledReason, SignatureForm } from '../../../contract/webhooks.ts';
import type { Connection } from '../../engine/driver.ts';
import { sql } from '../../engine/sql.ts';
import { type List, listsOf } from '../../lists.ts';
import { type Secrets, secretContext } from '../../secret-box.ts';
import { type Changes, flag, integer, json, optional, type RecordOf, tableOf, text } from '../../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  url: text('url'),
  types: optional(json<EventType[]>('types')),
  description: optional(text('description')),
  reveal: flag('reveal'),
  ordered: flag('ordered'),
  signatures: json<SignatureForm[]>('signatures'),
  active: flag('active'),
  /** Sealed where the database has a master key. */
  secret: text('secret'),
  previousSecret: optional(text('previous_secret')),
  previousSecretUntil: optional(text<Instant>('previous_secret_until')),
  /** Events up to this number were sent at least once, or are not for this webhook. */
  lastSeq: integer('last_seq'),
  /** When the next attempt of any failed delivery is due. */
  retryAt: optional(text<Instant>('retry_at')),
  /** The end of the pause that the receiver asked for. */
  pausedUntil: optional(text<Instant>('paused_until')),
  /** The server that holds the lease. */
  lease: optional(text('lease')),
  /** The end of the lease, in real time. */
  leaseUntil: optional(text<Instant>('lease_until')),
  /** The start of the last lease, in real time. */
  servedAt: optional(text<Instant>('served_at')),
  failingSince: optional(text<Instant>('failing_since')),
  /** Why the last attempt failed; null once everything was accepted. */
  lastError: optional(text('last_error')),
  disabledAt: optional(text<Instant>('disabled_at')),
  disabledReason: optional(text<DisabledReason>('disabled_reason')),
  createdAt: text<Instant>('created_at'),
  updatedAt: text<Instant>('updated_at'),
};

/** A webhook with its progress. */
export type WebhookRecord = RecordOf<typeof columns>;

type WebhookChanges = Changes<typeof columns>;

const webhooks = tableOf('webhooks', columns);
const lists = listsOf(webhooks, 'id');

type ById = Pick<WebhookRecord, 'accountId' | 'id'>;

type Lease = { readonly lease: string; readonly realTime: Instant; readonly until: Instant };

const MAX_DUE = 256;

/** No server holds the lease. */
const isFree = (realTime: Instant) => sql`(lease_until is null or lease_until <= ${realTime})`;

/** The webhook is not paused by its receiver. */
const isOpen = (now: Instant) => sql`(paused_until is null or paused_until <= ${now})`;

/** A ping is waiting; pings ignore pauses. */
const hasPing = sql`(ordered = 0 or retry_at is null) and exists (
  select 1 from events as e
  where e.account_id = w.account_id and e.subject_id = w.id and e.type = 'ping' and e.seq > w.last_seq)`;

export function webhookRepository(db: Connection, { sealSecret, openSecret }: Secrets) {
  /** The webhook with its secrets, where it has them, sealed or opened. */
  function withSecrets<T extends WebhookChanges>(of: ById, webhook: T, convert: typeof sealSecret): T {
    const { secret, previousSecret } = webhook;
    const context = secretContext('webhooks', of.accountId, of.id);
    return {
      ...webhook,
      ...(secret !== undefined && { secret: convert(secret, context) }),
      ...(previousSecret && { previousSecret: convert(previousSecret, context) }),
    };
  }
  const open = (webhook: WebhookRecord): WebhookRecord => withSecrets(webhook, webhook, openSecret);
  const openOrNull = (webhook: WebhookRecord | null) => webhook && open(webhook);

  return {
    insert: (webhook: WebhookRecord) => webhooks.add(db, withSecrets(webhook, webhook, sealSecret)),

    find: (accountId: AccountId, id: string) => webhooks.find(db, { accountId, id }).then(openOrNull),

    /** Locks and returns a webhook. */
    lock: (accountId: AccountId, id: string) => webhooks.lock(db, { accountId, id }).then(openOrNull),

    /** Oldest first. */
    list: (accountId: AccountId): List<WebhookRecord> => lists.of(db, { accountId }).map(open),

    async patch({ accountId, id }: ById, changes: WebhookChanges): Promise<WebhookRecord> {
      const key = { accountId, id };
      const changed = await webhooks.patch(db, key, withSecrets(key, changes, sealSecret));
      if (changed === null) throw new Error(`webhook ${id} was not locked`);
      return open(changed);
    },

    /** Removes a webhook with its deliveries; false for an unknown webhook. */
    remove: async (accountId: AccountId, id: string): Promise<boolean> =>
      (await webhooks.remove(db, { accountId, id })) === 1,

    /** Webhooks with due deliveries and no lease of another server; the webhook that was served longest ago comes first. */
    async listDue({ now, realTime, lease }: { now: Instant; realTime: Instant; lease: string }): Promise<ById[]> {
      // `nulls first` is explicit: PostgreSQL puts nulls last by default.
      const due = await webhooks.all(db)`
        select w.* from webhooks as w join record_heads as h on h.account_id = w.account_id
        where w.active = 1 and (lease = ${lease} or ${isFree(realTime)}) and ((${isOpen(now)}
          and (retry_at <= ${now} or (last_seq < h.event_seq and (ordered = 0 or retry_at is null)))) or (${hasPing}))
        order by served_at asc nulls first, w.account_id, w.id limit ${MAX_DUE}`;
      return due.map(({ accountId, id }) => ({ accountId, id }));
    },

    /** Takes the lease of a webhook; null when another server has it, or when the webhook is gone or not active. */
    async claim({ accountId, id }: ById, { lease, realTime, until }: Lease): Promise<WebhookRecord | null> {
      const claimed = await webhooks.first(db)`
        update webhooks set lease = ${lease}, lease_until = ${until}, served_at = ${realTime}
        where account_id = ${accountId} and id = ${id} and active = 1 and ${isFree(realTime)} returning *`;
      return openOrNull(claimed);
    },

    /** Prolongs all leases of a server. */
    prolong: (lease: string, leaseUntil: Instant) => webhooks.set(db, { lease }, { leaseUntil }),

    release: ({ accountId, id }: ById, lease: string) =>
      webhooks.set(db, { accountId, id, lease }, { lease: null, leaseUntil: null }),

    /** Locks and returns active webhooks that have failed since before an instant and have no due deliveries. */
    async lockFailing(before: Instant, now: Instant): Promise<WebhookRecord[]> {
      const failing = await webhooks.all(db)`
        select * from webhooks where active = 1 and failing_since <= ${before}
          and not (${isOpen(now)} and coalesce(retry_at, '9') <= ${now})
        order by account_id, id limit ${MAX_DUE} for update`;
      return failing.map(open);
    },

    /** Ends waits, pauses and leases that would last past an instant. */
    async makeDue(latest: Instant, now: Instant): Promise<void> {
      await db.run(sql`update webhooks set retry_at = ${now} where retry_at > ${latest}`);
      await db.run(sql`update webhooks set paused_until = null where paused_until > ${latest}`);
      await db.run(sql`update webhooks set lease = null, lease_until = null where lease_until > ${latest}`);
    },

    /** Ends all leases; for engines with one server. */
    releaseAll: () => db.run(sql`update webhooks set lease = null, lease_until = null where lease is not null`),
  };
}
