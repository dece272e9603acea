import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { DeliveryState } from '../../../contract/webhooks.ts';
import type { Connection } from '../../engine/driver.ts';
import { sql } from '../../engine/sql.ts';
import { integer, optional, type RecordOf, tableOf, text } from '../../table.ts';

const deliveries = tableOf('webhook_deliveries', {
  accountId: text<AccountId>('account_id'),
  webhookId: text('webhook_id'),
  seq: integer('seq'),
  eventId: text('event_id'),
  type: text('type'),
  state: text<DeliveryState>('state'),
  attempts: integer('attempts'),
  status: optional(integer('status')),
  error: optional(text('error')),
  answer: optional(text('answer')),
  durationMs: integer('duration_ms'),
  attemptedAt: text<Instant>('attempted_at'),
  nextAttemptAt: optional(text<Instant>('next_attempt_at')),
});

/** The delivery state of one event to one webhook. */
export type DeliveryRecord = RecordOf<typeof deliveries.columns>;

/** Takes the place of the state that a delivery had before. */
const replacing = sql`on conflict (account_id, webhook_id, seq) do update set
  event_id = excluded.event_id, type = excluded.type, state = excluded.state, attempts = excluded.attempts,
  status = excluded.status, error = excluded.error, answer = excluded.answer, duration_ms = excluded.duration_ms,
  attempted_at = excluded.attempted_at, next_attempt_at = excluded.next_attempt_at`;

type OfWebhook = Pick<DeliveryRecord, 'accountId' | 'webhookId'>;

/** How many webhooks, and how many accounts, `backlog` looks at. */
const MAX_ROWS = 1_000;

const isOf = ({ accountId, webhookId }: OfWebhook) => sql`account_id = ${accountId} and webhook_id = ${webhookId}`;

/** The delivery states of events to webhooks. States in statements are literals: only so do partial indexes serve them. */
export const deliveryRepository = (db: Connection) => ({
  save: (records: readonly DeliveryRecord[]) => deliveries.insertMany(db, records, replacing),

  /** Deliveries below a number, the last one first. */
  list(of: OfWebhook, { state, below, limit }: { below: number; limit: number; state?: DeliveryState | undefined }) {
    const which = state === undefined ? isOf(of) : sql`${isOf(of)} and state = ${state}`;
    return deliveries.all(db)`
      select * from webhook_deliveries where ${which} and seq < ${below} order by seq desc limit ${limit}`;
  },

  /** Failed deliveries that are due again, those that wait longest first. */
  listDue: (of: OfWebhook, now: Instant, limit: number) => deliveries.all(db)`
    select * from webhook_deliveries where ${isOf(of)} and state = 'retrying' and next_attempt_at <= ${now}
    order by next_attempt_at, seq limit ${limit}`,

  /** When the first failed delivery is due again; null when none is. */
  async nextRetry(of: OfWebhook): Promise<Instant | null> {
    const next = await deliveries.first(db)`
      select * from webhook_deliveries where ${isOf(of)} and state = 'retrying' order by next_attempt_at limit 1`;
    return next?.nextAttemptAt ?? null;
  },

  /** Removes deliveries after a number that were not accepted. */
  removeAfter: (of: OfWebhook, after: number) =>
    db.run(sql`delete from webhook_deliveries where ${isOf(of)} and state <> 'delivered' and seq > ${after}`),

  /** Makes everything that was not accepted due now; returns how much that is. */
  retryAll: (of: OfWebhook, now: Instant) =>
    db.run(sql`
      update webhook_deliveries set state = 'retrying', attempts = 0, next_attempt_at = ${now}
      where ${isOf(of)} and state <> 'delivered'`),

  /** Makes due now what would be due after an instant. */
  makeDue: (latest: Instant, now: Instant) =>
    db.run(sql`
      update webhook_deliveries set next_attempt_at = ${now} where state = 'retrying' and next_attempt_at > ${latest}`),

  /**
   * What has not been delivered, of all accounts: `waiting` for the first time, once for each webhook, and the contents of
   * the next event of each webhook that is behind, and of the oldest that is repeated.
   */
  async backlog() {
    const [sum] = await db.all<{ count: unknown }>(sql`
      select sum(h.event_seq - w.last_seq) as count from webhooks as w join record_heads as h on h.account_id = w.account_id
      where w.active = 1 and h.event_seq > w.last_seq`);
    const next = await db.all<{ content: string }>(sql`
      select e.content from webhooks as w
      join events as e on e.account_id = w.account_id and e.seq = w.last_seq + 1
      where w.active = 1 order by w.account_id, w.id limit ${MAX_ROWS}`);
    const open = await db.all<{ state: DeliveryState; count: unknown }>(sql`
      select state, count(*) as count from webhook_deliveries where state <> 'delivered' group by state order by state`);
    const countOf = (state: DeliveryState) => Number(open.find((row) => row.state === state)?.count ?? 0);
    const retrying = await db.all<{ content: string }>(sql`
      select e.content from (
        select account_id, min(seq) as seq from webhook_deliveries where state = 'retrying' group by account_id) as r
      join events as e on e.account_id = r.account_id and e.seq = r.seq
      order by r.account_id limit ${MAX_ROWS}`);
    return {
      waiting: Number(sum?.count ?? 0),
      retrying: countOf('retrying'),
      dead: countOf('dead'),
      oldest: [...next, ...retrying].map(({ content }) => content),
    };
  },

  /** Removes up to `limit` deliveries that ended before these instants; returns how many. */
  removeOld: ({ delivered, dead, limit }: { delivered: Instant; dead: Instant; limit: number }) =>
    db.run(sql`
      delete from webhook_deliveries where (account_id, webhook_id, seq) in (
        select account_id, webhook_id, seq from webhook_deliveries
        where attempted_at < ${delivered} and (state = 'delivered' or (state = 'dead' and attempted_at < ${dead}))
        order by attempted_at limit ${limit})`),
});
