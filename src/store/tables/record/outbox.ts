import type { EventType, JsonObject, ResourceType } from '../../../contract/events.ts';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { IpAddress } from '../../../domain/ip-address.ts';
import type { Connection } from '../../engine/driver.ts';
import { sql } from '../../engine/sql.ts';
import { countOf, json, type RecordOf, tableOf, text } from '../../table.ts';

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

const outbox = tableOf('outbox', {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  at: text<Instant>('created_at'),
  entry: json<OutboxEntry>('entry'),
});

/** A staged entry. */
export type OutboxRecord = RecordOf<typeof outbox.columns>;

/** How many entries one transaction numbers, which bounds how long other writes wait. */
const BATCH_SIZE = 500;

/** Staged entries: written in the transaction of the change, numbered afterwards. */
export const outboxRepository = (db: Connection) => ({
  /** Stages an entry for the end of the commit, if the engine numbers entries there; else writes it to the table. */
  insert: (row: OutboxRecord): Promise<unknown> => (db.stage(row) ? Promise.resolve() : outbox.add(db, row)),

  /** Entries of all accounts, those of each in the order of their ids. */
  list: (limit: number) => outbox.all(db)`select * from outbox order by account_id, id limit ${limit}`,

  /** How many entries of all accounts wait for their numbers. */
  count: () => countOf(db, sql`outbox`),

  /** The first account after `after` that has entries; null when none has. */
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

  /** Whether a batch of this size is full, so that there may be more. */
  isFullBatch: (count: number): boolean => count === BATCH_SIZE,
});
