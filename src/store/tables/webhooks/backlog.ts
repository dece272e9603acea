import { sql } from 'kysely';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';

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

/** Reads what has not been delivered. */
export async function readBacklog(db: Connection): Promise<Backlog> {
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
}
