import type { EventType } from '../../../contract/events.ts';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { DeliveryState } from '../../../contract/webhooks.ts';
import type { Connection } from '../../engine/driver.ts';
import { isAmong, sql } from '../../engine/sql.ts';
import { countOf, integer, optional, type RecordOf, tableOf, text } from '../../table.ts';
import type { WebhookRecord } from './webhooks.ts';

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

/** Replaces the state of a delivery. */
const replacing = sql`on conflict (account_id, webhook_id, seq) do update set
  event_id = excluded.event_id, type = excluded.type, state = excluded.state, attempts = excluded.attempts,
  status = excluded.status, error = excluded.error, answer = excluded.answer, duration_ms = excluded.duration_ms,
  attempted_at = excluded.attempted_at, next_attempt_at = excluded.next_attempt_at`;

type OfWebhook = Pick<DeliveryRecord, 'accountId' | 'webhookId'>;

/** The most webhooks that `backlog` looks at. */
const MAX_WEBHOOKS = 1_000;

/** The most events that `countWaiting` looks at. */
const MAX_COUNTED = 20_000;

const isOf = ({ accountId, webhookId }: OfWebhook) => sql`account_id = ${accountId} and webhook_id = ${webhookId}`;

/** The deliveries of events to webhooks. `'waiting'` is a literal in statements, so that the partial indexes serve them. */
export const deliveryRepository = (db: Connection) => ({
  save: (records: readonly DeliveryRecord[]) => deliveries.insertMany(db, records, replacing),

  /** Deliveries of events below a number, newest event first. */
  list(of: OfWebhook, { state, below, limit }: { below: number; limit: number; state?: DeliveryState | undefined }) {
    const which = state === undefined ? isOf(of) : sql`${isOf(of)} and state = ${state}`;
    return deliveries.all(db)`
      select * from webhook_deliveries where ${which} and seq < ${below} order by seq desc limit ${limit}`;
  },

  /** Deliveries whose next attempt is due, in the order of that time. */
  listDue: (of: OfWebhook, now: Instant, limit: number) => deliveries.all(db)`
    select * from webhook_deliveries where ${isOf(of)} and state = 'waiting' and next_attempt_at <= ${now}
    order by next_attempt_at, seq limit ${limit}`,

  /** When the next attempt of any delivery is due; null when no delivery waits. */
  async nextRetry(of: OfWebhook): Promise<Instant | null> {
    const next = await deliveries.first(db)`
      select * from webhook_deliveries where ${isOf(of)} and state = 'waiting' order by next_attempt_at limit 1`;
    return next?.nextAttemptAt ?? null;
  },

  /** How many events after a number wait: for another attempt, or after `lastSeq` for the first attempt. */
  async countWaiting(of: OfWebhook, after: number, { lastSeq, types }: Pick<WebhookRecord, 'lastSeq' | 'types'>) {
    const isWanted = types === null ? sql`type <> 'ping'` : isAmong(sql`type`, types);
    const first = Math.max(after, lastSeq);
    const range = sql`account_id = ${of.accountId} and seq > ${first} and seq <= ${first + MAX_COUNTED}`;
    const again = await countOf(db, sql`webhook_deliveries where ${isOf(of)} and state = 'waiting' and seq > ${after}`);
    return again + (await countOf(db, sql`events where ${range} and ${isWanted}`));
  },

  /** Removes waiting deliveries of the events after `after`, up to `until`. */
  removeWaiting: (of: OfWebhook, after: number, until: number) =>
    db.run(sql`
      delete from webhook_deliveries where ${isOf(of)} and state = 'waiting' and seq > ${after} and seq <= ${until}`),

  /** Removes waiting deliveries of events of other types than `types`; pings stay. */
  removeOtherTypes: (of: OfWebhook, types: readonly EventType[]) =>
    db.run(sql`
      delete from webhook_deliveries where ${isOf(of)} and state = 'waiting'
      and not (${isAmong(sql`type`, [...types, 'ping'])})`),

  /** Makes all waiting deliveries due now, with no attempts counted. */
  retryAll: (of: OfWebhook, now: Instant) =>
    db.run(sql`
      update webhook_deliveries set attempts = 0, next_attempt_at = ${now} where ${isOf(of)} and state = 'waiting'`),

  /** Makes deliveries due now whose next attempt would be after an instant. */
  makeDue: (latest: Instant, now: Instant) =>
    db.run(sql`
      update webhook_deliveries set next_attempt_at = ${now} where state = 'waiting' and next_attempt_at > ${latest}`),

  /**
   * How many events the active webhooks of all accounts have yet to accept, and the oldest of these events for each webhook. Types
   * that a webhook does not take are counted too.
   */
  async backlog() {
    const waiting = sql`from webhook_deliveries as d
      where d.account_id = w.account_id and d.webhook_id = w.id and d.state = 'waiting'`;
    const rows = await db.all<{ waiting: unknown; content: string }>(sql`
      select h.event_seq - w.last_seq + (select count(*) ${waiting}) as waiting, e.content
      from webhooks as w join record_heads as h on h.account_id = w.account_id join events as e
      on e.account_id = w.account_id and e.seq = coalesce((select min(d.seq) ${waiting}), w.last_seq + 1)
      where w.active = 1 order by w.account_id, w.id limit ${MAX_WEBHOOKS}`);
    const total = rows.reduce((sum, row) => sum + Number(row.waiting), 0);
    return { waiting: total, oldest: rows.map(({ content }) => content) };
  },

  /** Removes up to `limit` deliveries that were accepted before an instant; returns how many. */
  removeOld: (before: Instant, limit: number) =>
    db.run(sql`
      delete from webhook_deliveries where (account_id, webhook_id, seq) in (
        select account_id, webhook_id, seq from webhook_deliveries
        where attempted_at < ${before} and state = 'delivered' order by attempted_at limit ${limit})`),
});
