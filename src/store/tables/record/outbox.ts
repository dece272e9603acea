import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { sql } from '../../engine/sql.ts';
import type { OutboxEntry, OutboxRecord } from '../../outbox-record.ts';
import { countOf, json, tableOf, text } from '../../table.ts';

const outbox = tableOf('outbox', {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  at: text<Instant>('created_at'),
  entry: json<OutboxEntry>('entry'),
});

/** How many entries one transaction numbers, which bounds how long other writes wait. */
const BATCH_SIZE = 500;

/** Staged entries: written in the transaction of the change, numbered afterwards. */
export const outboxRepository = (db: Connection) => ({
  /** Stages an entry for the end of the commit, if the engine numbers entries there; else writes it to the table. */
  insert: (row: OutboxRecord): Promise<unknown> => (db.stage(row) ? Promise.resolve() : outbox.add(db, row)),

  /** How many entries of all accounts wait for their numbers. */
  count: () => countOf(db, sql`outbox`),

  /** The first account after `after` that has entries; null without such an account. */
  async nextAccount(after: AccountId | ''): Promise<AccountId | null> {
    const next = await outbox.first(db)`
      select * from outbox where account_id > ${after} order by account_id limit 1`;
    return next?.accountId ?? null;
  },

  /** Removes the first entries of an account, at most as many as a transaction should number, and returns them in order. */
  async take(accountId: AccountId): Promise<OutboxRecord[]> {
    const first = sql`select id from outbox where account_id = ${accountId} order by id limit ${BATCH_SIZE}`;
    const taken = await outbox.all(db)`
      delete from outbox where account_id = ${accountId} and id in (${first}) returning *`;
    return taken.sort((a, b) => (a.id < b.id ? -1 : 1));
  },

  /** Whether a batch of `count` entries is full, so that more may wait. */
  isFullBatch: (count: number): boolean => count === BATCH_SIZE,
});
