import { type Kysely, sql } from 'kysely';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { DeliveryState } from '../../../contract/webhooks/webhook.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import type { Tables } from '../../schema.ts';
import { insertManyInto, integer, optional, type RecordOf, readerOf, type Table, text } from '../../table.ts';

export const deliveryColumns = {
  accountId: text<AccountId>()('account_id'),
  webhookId: text()('webhook_id'),
  seq: integer()('seq'),
  eventId: text()('event_id'),
  type: text()('type'),
  state: text<DeliveryState>()('state'),
  attempts: integer()('attempts'),
  status: optional(integer()('status')),
  error: optional(text()('error')),
  answer: optional(text()('answer')),
  durationMs: integer()('duration_ms'),
  attemptedAt: text<Instant>()('attempted_at'),
  nextAttemptAt: optional(text<Instant>()('next_attempt_at')),
};

/** The delivery state of one event to one webhook. */
export type DeliveryRecord = RecordOf<typeof deliveryColumns>;

// States in conditions are literals: only so do partial indexes serve them, and no statement is compiled anew for each value.
const deliveries: Table<typeof deliveryColumns> = { name: 'webhook_deliveries', columns: deliveryColumns };
const saveMany = insertManyInto(deliveries, ['accountId', 'webhookId', 'seq']);
const read = readerOf(deliveries);

/** Names a webhook whose deliveries are meant. */
export interface OfWebhook {
  readonly accountId: AccountId;
  readonly webhookId: string;
}

const ofWebhook = (db: Kysely<Tables>, $: OfWebhook) =>
  db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('webhook_id', '=', $.webhookId);

const listBelow = statement<OfWebhook & { below: number; limit: number }>()((db, $) =>
  ofWebhook(db, $).where('seq', '<', $.below).orderBy('seq', 'desc').limit($.limit),
);

const listOfState = statement<OfWebhook & { below: number; limit: number; state: DeliveryState }>()((db, $) =>
  ofWebhook(db, $).where('state', '=', $.state).where('seq', '<', $.below).orderBy('seq', 'desc').limit($.limit),
);

const due = statement<OfWebhook & { now: Instant; limit: number }>()((db, $) =>
  ofWebhook(db, $)
    .where('state', '=', sql.lit('retrying'))
    .where('next_attempt_at', '<=', $.now)
    .orderBy('next_attempt_at')
    .orderBy('seq')
    .limit($.limit),
);

const nextRetry = statement<OfWebhook>()((db, $) =>
  db
    .selectFrom('webhook_deliveries')
    .select('next_attempt_at')
    .where('account_id', '=', $.accountId)
    .where('webhook_id', '=', $.webhookId)
    .where('state', '=', sql.lit('retrying'))
    .orderBy('next_attempt_at')
    .limit(sql.lit(1)),
);

const removeAfter = statement<OfWebhook & { after: number }>()((db, $) =>
  db
    .deleteFrom('webhook_deliveries')
    .where('account_id', '=', $.accountId)
    .where('webhook_id', '=', $.webhookId)
    .where('state', '!=', sql.lit('delivered'))
    .where('seq', '>', $.after),
);

const retryAll = statement<OfWebhook & { now: Instant }>()((db, $) =>
  db
    .updateTable('webhook_deliveries')
    .set({ state: 'retrying', attempts: 0, next_attempt_at: $.now })
    .where('account_id', '=', $.accountId)
    .where('webhook_id', '=', $.webhookId)
    .where('state', '!=', sql.lit('delivered')),
);

const dueNow = statement<{ latest: Instant; now: Instant }>()((db, $) =>
  db
    .updateTable('webhook_deliveries')
    .set({ next_attempt_at: $.now })
    .where('state', '=', sql.lit('retrying'))
    .where('next_attempt_at', '>', $.latest),
);

const removeOld = statement<{ delivered: Instant; dead: Instant; limit: number }>()((db, $) =>
  db.deleteFrom('webhook_deliveries').where(({ refTuple, selectFrom, eb }) =>
    eb(
      refTuple('account_id', 'webhook_id', 'seq'),
      'in',
      selectFrom('webhook_deliveries as old')
        .select(['old.account_id', 'old.webhook_id', 'old.seq'])
        .where('old.attempted_at', '<', $.delivered)
        .where((old) =>
          old.or([
            old('old.state', '=', sql.lit('delivered')),
            old.and([old('old.state', '=', sql.lit('dead')), old('old.attempted_at', '<', $.dead)]),
          ]),
        )
        .orderBy('old.attempted_at')
        .limit($.limit)
        .$asTuple('account_id', 'webhook_id', 'seq'),
    ),
  ),
);

/** What has not been delivered, of all accounts. */
export interface Backlog {
  /** Events that are still to be sent for the first time, each once for each webhook. */
  readonly waiting: number;
  /** Deliveries that have failed and are repeated. */
  readonly retrying: number;
  /** Deliveries that were given up. */
  readonly dead: number;
  /** The contents of the next event of each webhook that is behind, and of the oldest that is repeated: of 1,000 at most. */
  readonly oldest: readonly string[];
}

/** Webhooks, and accounts, that are looked at. */
const MAX_ROWS = 1_000;

const waiting = statement<object>()((db) =>
  db
    .selectFrom('webhooks as w')
    .innerJoin('record_heads as h', 'h.account_id', 'w.account_id')
    .select(sql<number | string | null>`sum(h.event_seq - w.last_seq)`.as('count'))
    .where('w.active', '=', sql.lit(1))
    .whereRef('h.event_seq', '>', 'w.last_seq'),
);

const unsent = statement<object>()((db) =>
  db
    .selectFrom('webhooks as w')
    .innerJoin('events as e', (join) =>
      join.onRef('e.account_id', '=', 'w.account_id').on('e.seq', '=', sql<number>`w.last_seq + 1`),
    )
    .select('e.content')
    .where('w.active', '=', sql.lit(1))
    .orderBy('w.account_id')
    .orderBy('w.id')
    .limit(sql.lit(MAX_ROWS)),
);

const open = statement<object>()((db) =>
  db
    .selectFrom('webhook_deliveries')
    .select(['state', (eb) => eb.fn.countAll<number>().as('count')])
    .where('state', '!=', sql.lit('delivered'))
    .groupBy('state')
    .orderBy('state'),
);

const oldestRetrying = statement<object>()((db) =>
  db
    .selectFrom((from) =>
      from
        .selectFrom('webhook_deliveries')
        .select(['account_id', (eb) => eb.fn.min('seq').as('seq')])
        .where('state', '=', sql.lit('retrying'))
        .groupBy('account_id')
        .as('r'),
    )
    .innerJoin('events as e', (join) => join.onRef('e.account_id', '=', 'r.account_id').onRef('e.seq', '=', 'r.seq'))
    .select('e.content')
    .orderBy('r.account_id')
    .limit(sql.lit(MAX_ROWS)),
);

/** The delivery states of events to webhooks. */
export const deliveryRepository = (db: Connection) => ({
  /** Saves delivery states, in place of those before. */
  save: (records: readonly DeliveryRecord[]): Promise<void> => saveMany(db, records),

  /** Deliveries below a number, the last one first. */
  async list(
    of: OfWebhook,
    { state, ...range }: { below: number; limit: number; state?: DeliveryState | undefined },
  ): Promise<DeliveryRecord[]> {
    const rows =
      state === undefined
        ? await db.all(listBelow, { ...of, ...range })
        : await db.all(listOfState, { ...of, ...range, state });
    return rows.map(read);
  },

  /** Failed deliveries that are due again, those that wait longest first. */
  async listDue(of: OfWebhook, now: Instant, limit: number): Promise<DeliveryRecord[]> {
    return (await db.all(due, { ...of, now, limit })).map(read);
  },

  /** When the first failed delivery is due again; null when none is. */
  async nextRetry(of: OfWebhook): Promise<Instant | null> {
    return (await db.first(nextRetry, of))?.next_attempt_at ?? null;
  },

  /** Removes deliveries after a number that were not accepted. */
  async removeAfter(of: OfWebhook, after: number): Promise<void> {
    await db.run(removeAfter, { ...of, after });
  },

  /** Makes everything that was not accepted due now; returns how much that is. */
  retryAll: (of: OfWebhook, now: Instant): Promise<number> => db.run(retryAll, { ...of, now }),

  /** Makes due now what would be due after an instant. */
  async makeDue(latest: Instant, now: Instant): Promise<void> {
    await db.run(dueNow, { latest, now });
  },

  /** What has not been delivered, of all accounts. */
  async backlog(): Promise<Backlog> {
    const [sum] = await db.all(waiting, {});
    const next = await db.all(unsent, {});
    const states = new Map((await db.all(open, {})).map(({ state, count }) => [state, Number(count)]));
    const retrying = await db.all(oldestRetrying, {});
    return {
      waiting: Number(sum?.count ?? 0),
      retrying: states.get('retrying') ?? 0,
      dead: states.get('dead') ?? 0,
      oldest: [...next, ...retrying].map(({ content }) => content),
    };
  },

  /** Removes up to `limit` deliveries that ended before these instants; returns how many. */
  removeOld: (before: { delivered: Instant; dead: Instant; limit: number }): Promise<number> =>
    db.run(removeOld, before),
});
