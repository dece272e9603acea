import type { AccountId, Instant, TokenId } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import type { IdempotencyKeyHash, SealedResponse } from '../response-sealing.ts';
import type { IdempotencyRow } from '../schema.ts';

/** One request that was made under an idempotency key. Neither the key nor the response is in it in clear. */
export interface IdempotencyRecord {
  readonly accountId: AccountId;
  readonly keyHash: IdempotencyKeyHash;
  readonly fingerprintVersion: number;
  readonly fingerprint: string;
  /** In progress: it may have run, and its response is not known. Only records from elsewhere are in that state. */
  readonly state: 'in_progress' | 'completed';
  readonly method: string;
  readonly path: string;
  /** The token that made the request; null for the owner of a database in process, and where it is not known. */
  readonly tokenId: TokenId | null;
  /** Null when no response is stored. */
  readonly response: SealedResponse | null;
  readonly createdAt: Instant;
}

const insert = statement<IdempotencyRow>()((db, $) =>
  db.insertInto('idempotency').values({
    account_id: $.account_id,
    key_hash: $.key_hash,
    fingerprint_version: $.fingerprint_version,
    fingerprint: $.fingerprint,
    state: $.state,
    method: $.method,
    path: $.path,
    token_id: $.token_id,
    sealed_response: $.sealed_response,
    created_at: $.created_at,
  }),
);

const find = statement<{ accountId: string; keyHash: string }>()((db, $) =>
  db.selectFrom('idempotency').selectAll().where('account_id', '=', $.accountId).where('key_hash', '=', $.keyHash),
);

const list = statement<{ accountId: string; state: IdempotencyRow['state']; pattern: string; limit: number }>()(
  (db, $) =>
    db
      .selectFrom('idempotency')
      .selectAll()
      .where('account_id', '=', $.accountId)
      .where('state', '=', $.state)
      .where('key_hash', 'like', $.pattern)
      .orderBy('created_at')
      .orderBy('key_hash')
      .limit($.limit),
);

const remove = statement<{ accountId: string; keyHash: string }>()((db, $) =>
  db.deleteFrom('idempotency').where('account_id', '=', $.accountId).where('key_hash', '=', $.keyHash),
);

const complete = statement<{ accountId: string; keyHash: string }>()((db, $) =>
  db
    .updateTable('idempotency')
    .set({ state: 'completed' })
    .where('account_id', '=', $.accountId)
    .where('key_hash', '=', $.keyHash),
);

const removeOlder = statement<{ before: string; limit: number }>()((db, $) =>
  db
    .deleteFrom('idempotency')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('account_id', 'key_hash'),
        'in',
        selectFrom('idempotency as old')
          .select(['old.account_id', 'old.key_hash'])
          .where('old.created_at', '<', $.before)
          .orderBy('old.created_at')
          .limit($.limit)
          .$asTuple('account_id', 'key_hash'),
      ),
    )
    .returning('account_id'),
);

/** The idempotency records of accounts. */
export const idempotencyRepository = (db: Connection) => ({
  /** Claims the key for this transaction; false at once when another transaction holds it. */
  claim: (accountId: AccountId, keyHash: IdempotencyKeyHash): Promise<boolean> => db.tryLock(`${accountId} ${keyHash}`),

  async find(accountId: AccountId, keyHash: IdempotencyKeyHash): Promise<IdempotencyRecord | null> {
    const row = await db.first(find, { accountId, keyHash });
    return row === undefined ? null : toRecord(row);
  },

  async insert(record: IdempotencyRecord): Promise<void> {
    await db.run(insert, toRow(record));
  },

  /** Records of one state, oldest first; with `prefix`, in hexadecimal digits, those whose hash begins with it. */
  async list(
    accountId: AccountId,
    state: IdempotencyRecord['state'],
    { prefix = '', limit }: { readonly prefix?: string; readonly limit: number },
  ): Promise<IdempotencyRecord[]> {
    const rows = await db.all(list, { accountId, state, pattern: `${prefix}%`, limit });
    return rows.map(toRecord);
  },

  /** Marks a record as completed; when it holds no response, retries are refused with `storedResponseMissing`. */
  async complete(accountId: AccountId, keyHash: IdempotencyKeyHash): Promise<void> {
    await db.run(complete, { accountId, keyHash });
  },

  async remove(accountId: AccountId, keyHash: IdempotencyKeyHash): Promise<void> {
    await db.run(remove, { accountId, keyHash });
  },

  /** Removes up to `limit` records of all accounts made before the instant, oldest first; returns the account of each. */
  async removeOlder(before: Instant, limit: number): Promise<AccountId[]> {
    return (await db.all(removeOlder, { before, limit })).map((row) => row.account_id as AccountId);
  },
});

const toRow = (record: IdempotencyRecord): IdempotencyRow => ({
  account_id: record.accountId,
  key_hash: record.keyHash,
  fingerprint_version: record.fingerprintVersion,
  fingerprint: record.fingerprint,
  state: record.state,
  method: record.method,
  path: record.path,
  token_id: record.tokenId,
  sealed_response: record.response,
  created_at: record.createdAt,
});

const toRecord = (row: IdempotencyRow): IdempotencyRecord => ({
  accountId: row.account_id as AccountId,
  keyHash: row.key_hash as IdempotencyKeyHash,
  fingerprintVersion: row.fingerprint_version,
  fingerprint: row.fingerprint,
  state: row.state,
  method: row.method,
  path: row.path,
  tokenId: row.token_id as TokenId | null,
  response: row.sealed_response as SealedResponse | null,
  createdAt: row.created_at as Instant,
});
