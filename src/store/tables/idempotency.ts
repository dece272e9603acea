import type { AccountId, Instant, TokenId } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { sql } from '../engine/sql.ts';
import type { IdempotencyKeyHash, SealedResponse } from '../response-sealing.ts';
import { integer, optional, type RecordOf, tableOf, text } from '../table.ts';

const idempotency = tableOf('idempotency', {
  accountId: text<AccountId>('account_id'),
  /** A hash of the idempotency key, which is not stored itself. */
  keyHash: text<IdempotencyKeyHash>('key_hash'),
  fingerprintVersion: integer('fingerprint_version'),
  fingerprint: text('fingerprint'),
  /** `in progress`: the request may have run, its response is unknown. Only records from other systems have this state. */
  state: text<'in_progress' | 'completed'>('state'),
  method: text('method'),
  path: text('path'),
  /** The token that made the request; null for the owner of a database in process, and if unknown. */
  tokenId: optional(text<TokenId>('token_id')),
  /** The response, which only the idempotency key opens; null without a stored response. */
  response: optional(text<SealedResponse>('sealed_response')),
  createdAt: text<Instant>('created_at'),
});

/** A request under an idempotency key, without the key and the response in clear. */
export type IdempotencyRecord = RecordOf<typeof idempotency.columns>;

/** The idempotency records of accounts. */
export const idempotencyRepository = (db: Connection) => ({
  /** Claims the key for this transaction; false at once when another transaction holds it. */
  claim: (accountId: AccountId, keyHash: IdempotencyKeyHash) => db.tryLock(`${accountId} ${keyHash}`),

  find: (accountId: AccountId, keyHash: IdempotencyKeyHash) => idempotency.find(db, { accountId, keyHash }),

  insert: (record: IdempotencyRecord) => idempotency.add(db, record),

  /** When the newest record of all accounts was made; null without records. */
  async newest(): Promise<Instant | null> {
    const newest = await idempotency.first(db)`select * from idempotency order by created_at desc limit 1`;
    return newest?.createdAt ?? null;
  },

  /** Removes up to `limit` records of all accounts made before the instant, oldest first; returns the account of each. */
  removeOlder(before: Instant, limit: number): Promise<AccountId[]> {
    const removal = sql`
      delete from idempotency where (account_id, key_hash) in (
        select account_id, key_hash from idempotency where created_at < ${before} order by created_at limit ${limit})
      returning account_id`;
    return db.all(removal, (row: { account_id: AccountId }) => row.account_id);
  },
});
