import { type SqlBool, sql } from 'kysely';
import type { AccountId, Instant, TokenId } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import type { IdempotencyKeyHash, SealedResponse } from '../response-sealing.ts';
import { byKey, insertInto, integer, optional, type RecordOf, readerOf, type Table, text } from '../table.ts';

export const idempotencyColumns = {
  accountId: text<AccountId>()('account_id'),
  /** Stands for the idempotency key, which itself is kept nowhere. */
  keyHash: text<IdempotencyKeyHash>()('key_hash'),
  fingerprintVersion: integer()('fingerprint_version'),
  fingerprint: text()('fingerprint'),
  /** In progress: it may have run, and its response is not known. Only records from elsewhere are in that state. */
  state: text<'in_progress' | 'completed'>()('state'),
  method: text()('method'),
  path: text()('path'),
  /** The token that made the request; null for the owner of a database in process, and where it is not known. */
  tokenId: optional(text<TokenId>()('token_id')),
  /** Opened by the idempotency key alone; null when no response is stored. */
  response: optional(text<SealedResponse>()('sealed_response')),
  createdAt: text<Instant>()('created_at'),
};

/** One request that was made under an idempotency key. Neither the key nor the response is in it in clear. */
export type IdempotencyRecord = RecordOf<typeof idempotencyColumns>;

const idempotency: Table<typeof idempotencyColumns> = { name: 'idempotency', columns: idempotencyColumns };
const insert = insertInto(idempotency);
const read = readerOf(idempotency);
const byHash = byKey(idempotency, ['accountId', 'keyHash'], read);

const list = statement<{ accountId: AccountId; state: IdempotencyRecord['state']; pattern: string; limit: number }>()(
  (db, $) =>
    db
      .selectFrom('idempotency')
      .selectAll()
      .where('account_id', '=', $.accountId)
      .where('state', '=', $.state)
      .where(sql<SqlBool>`key_hash like ${$.pattern}`)
      .orderBy('created_at')
      .orderBy('key_hash')
      .limit($.limit),
);

const newest = statement<object>()((db) =>
  db.selectFrom('idempotency').select('created_at').orderBy('created_at', 'desc').limit(sql.lit(1)),
);

const removeOlder = statement<{ before: Instant; limit: number }>()((db, $) =>
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

  find: (accountId: AccountId, keyHash: IdempotencyKeyHash): Promise<IdempotencyRecord | null> =>
    byHash.find(db, { accountId, keyHash }),

  async insert(record: IdempotencyRecord): Promise<void> {
    await db.run(insert, record);
  },

  /** Records of one state, oldest first; with `prefix`, in hexadecimal digits, those whose hash begins with it. */
  async list(
    accountId: AccountId,
    state: IdempotencyRecord['state'],
    { prefix = '', limit }: { readonly prefix?: string; readonly limit: number },
  ): Promise<IdempotencyRecord[]> {
    const rows = await db.all(list, { accountId, state, pattern: `${prefix}%`, limit });
    return rows.map(read);
  },

  /** Marks a record as completed; when it holds no response, retries are refused with `storedResponseMissing`. */
  async complete(accountId: AccountId, keyHash: IdempotencyKeyHash): Promise<void> {
    await byHash.patch(db, { accountId, keyHash }, { state: 'completed' });
  },

  async remove(accountId: AccountId, keyHash: IdempotencyKeyHash): Promise<void> {
    await byHash.remove(db, { accountId, keyHash });
  },

  /** When the newest record of all accounts was made; null when there is none. */
  async newest(): Promise<Instant | null> {
    return (await db.first(newest, {}))?.created_at ?? null;
  },

  /** Removes up to `limit` records of all accounts made before the instant, oldest first; returns the account of each. */
  async removeOlder(before: Instant, limit: number): Promise<AccountId[]> {
    return (await db.all(removeOlder, { before, limit })).map((row) => row.account_id);
  },
});
