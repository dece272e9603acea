import type { JsonObject } from '../../contract/events.ts';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { insertInto, json, type RecordOf, readerOf, type Table, text } from '../table.ts';

/** A mutation with its events, before they have their numbers. */
export interface OutboxEntry {
  readonly actor: { readonly type: string; readonly id: string };
  readonly address: string | null;
  readonly door: string;
  readonly requestId: string | null;
  readonly operation: string;
  readonly outcome: string;
  readonly resource: { readonly type: string; readonly id: string } | null;
  readonly details: JsonObject;
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly resource: { readonly type: string; readonly id: string };
    readonly data: JsonObject;
  }[];
}

export const outboxColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  at: text<Instant>()('created_at'),
  entry: json<OutboxEntry>()('entry'),
};

const outbox: Table<typeof outboxColumns> = { name: 'outbox', columns: outboxColumns };
const insert = insertInto(outbox);
const toRow = readerOf(outbox);

const list = statement<{ limit: number }>()((db, $) =>
  db.selectFrom('outbox').selectAll().orderBy('account_id').orderBy('id').limit($.limit),
);

/** What happened and has no number yet: written with what happened, numbered afterwards. */
export const outboxRepository = (db: Connection) => ({
  async insert(row: RecordOf<typeof outboxColumns>): Promise<void> {
    await db.run(insert, row);
  },

  /** Entries of all accounts, those of each in the order of their ids. */
  async list(limit: number): Promise<RecordOf<typeof outboxColumns>[]> {
    return (await db.all(list, { limit })).map((row) => toRow(row));
  },
});
