import { sql } from 'kysely';
import type { EventType, JsonObject, ResourceType } from '../../../contract/events.ts';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { IpAddress } from '../../../domain/ip-address.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import { insertInto, json, type RecordOf, readerOf, type Table, text } from '../../table.ts';

/** A mutation with its events, before they have their numbers. */
export interface OutboxEntry {
  readonly actor: { readonly type: string; readonly id: string };
  readonly address: IpAddress | null;
  /** Random, base64url; null where there is no address to hide. */
  readonly salt: string | null;
  /** How the request came in: `http`, `db` or `job`. */
  readonly door: string;
  readonly requestId: string | null;
  readonly operation: string;
  readonly outcome: string;
  readonly resource: { readonly type: string; readonly id: string } | null;
  readonly details: JsonObject;
  readonly events: readonly {
    readonly id: string;
    readonly type: EventType;
    readonly resource: { readonly type: ResourceType; readonly id: string };
    readonly data: JsonObject;
  }[];
}

export const outboxColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  at: text<Instant>()('created_at'),
  entry: json<OutboxEntry>()('entry'),
};

/** A staged entry. */
export type OutboxRecord = RecordOf<typeof outboxColumns>;

const outbox: Table<typeof outboxColumns> = { name: 'outbox', columns: outboxColumns };
const insert = insertInto(outbox);
const toRow = readerOf(outbox);

const list = statement<{ limit: number }>()((db, $) =>
  db.selectFrom('outbox').selectAll().orderBy('account_id').orderBy('id').limit($.limit),
);

const countRows = statement<object>()((db) =>
  db.selectFrom('outbox').select((o) => o.fn.countAll<number>().as('count')),
);

const nextAccount = statement<{ after: string }>()((db, $) =>
  db
    .selectFrom('outbox')
    .select('account_id')
    .where(sql<boolean>`account_id > ${$.after}`)
    .orderBy('account_id')
    .limit(sql.lit(1)),
);

/** Rows that one transaction numbers: other writes wait no longer than for these. */
const BATCH_SIZE = 500;

const take = statement<{ accountId: AccountId }>()((db, $) =>
  db
    .deleteFrom('outbox')
    .where('account_id', '=', $.accountId)
    .where((o) =>
      o(
        'id',
        'in',
        o
          .selectFrom('outbox as first')
          .select('first.id')
          .where('first.account_id', '=', $.accountId)
          .orderBy('first.id')
          .limit(sql.lit(BATCH_SIZE)),
      ),
    )
    .returningAll(),
);

/** See {@link outboxRepository}. */
export type OutboxRepository = ReturnType<typeof outboxRepository>;

/** What happened and has no number yet: written with what happened, numbered afterwards. */
export const outboxRepository = (db: Connection) => ({
  async insert(row: OutboxRecord): Promise<void> {
    await db.run(insert, row);
  },

  /** Entries of all accounts, those of each in the order of their ids. */
  async list(limit: number): Promise<OutboxRecord[]> {
    return (await db.all(list, { limit })).map(toRow);
  },

  /** How many entries of all accounts wait for their numbers. */
  async count(): Promise<number> {
    return Number((await db.first(countRows, {}))?.count ?? 0);
  },

  /** The first account after `after` that has entries; null when none has. */
  async nextAccount(after: AccountId | ''): Promise<AccountId | null> {
    return (await db.first(nextAccount, { after }))?.account_id ?? null;
  },

  /** Removes the first entries of an account, at most as many as a transaction should number, and returns them in order. */
  async take(accountId: AccountId): Promise<OutboxRecord[]> {
    const rows = await db.all(take, { accountId });
    return rows.map(toRow).sort((a, b) => (a.id < b.id ? -1 : 1));
  },

  /** Whether a batch of this many entries may not have been all. */
  isFullBatch: (count: number): boolean => count === BATCH_SIZE,
});
