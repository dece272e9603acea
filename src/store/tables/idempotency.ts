import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import type { IdempotencyRow } from '../schema.ts';

/** What stands under an idempotency key. */
export interface IdempotencyRecord {
  readonly accountId: AccountId;
  readonly key: string;
  readonly fingerprintVersion: number;
  readonly fingerprint: string;
  /** In progress: it may have run, and its answer is not known. Only records from elsewhere are in that state. */
  readonly state: 'in_progress' | 'completed';
  readonly method: string;
  readonly path: string;
  /** The stored answer; null when there is none. */
  readonly answer: StoredResponse | null;
  readonly createdAt: Instant;
}

/** An answer as it was sent. */
export interface StoredResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const insert = statement<IdempotencyRow>()((db, $) =>
  db.insertInto('idempotency').values({
    account_id: $.account_id,
    idempotency_key: $.idempotency_key,
    fingerprint_version: $.fingerprint_version,
    fingerprint: $.fingerprint,
    state: $.state,
    method: $.method,
    path: $.path,
    status: $.status,
    content_type: $.content_type,
    body: $.body,
    created_at: $.created_at,
  }),
);

const find = statement<{ accountId: string; key: string }>()((db, $) =>
  db.selectFrom('idempotency').selectAll().where('account_id', '=', $.accountId).where('idempotency_key', '=', $.key),
);

const list = statement<{ accountId: string; state: IdempotencyRow['state']; limit: number }>()((db, $) =>
  db
    .selectFrom('idempotency')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('state', '=', $.state)
    .orderBy('created_at')
    .orderBy('idempotency_key')
    .limit($.limit),
);

const remove = statement<{ accountId: string; key: string }>()((db, $) =>
  db.deleteFrom('idempotency').where('account_id', '=', $.accountId).where('idempotency_key', '=', $.key),
);

const complete = statement<{ accountId: string; key: string }>()((db, $) =>
  db
    .updateTable('idempotency')
    .set({ state: 'completed' })
    .where('account_id', '=', $.accountId)
    .where('idempotency_key', '=', $.key),
);

const removeOlder = statement<{ before: string; limit: number }>()((db, $) =>
  db
    .deleteFrom('idempotency')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('account_id', 'idempotency_key'),
        'in',
        selectFrom('idempotency as old')
          .select(['old.account_id', 'old.idempotency_key'])
          .where('old.created_at', '<', $.before)
          .orderBy('old.created_at')
          .limit($.limit)
          .$asTuple('account_id', 'idempotency_key'),
      ),
    ),
);

/** The idempotency records of accounts. */
export const idempotencyRepository = (db: Connection) => ({
  /** Claims the key for this transaction; false at once when another one runs under it. */
  claim: (accountId: AccountId, key: string): Promise<boolean> => db.tryLock(`${accountId} ${key}`),

  async find(accountId: AccountId, key: string): Promise<IdempotencyRecord | null> {
    const row = await db.first(find, { accountId, key });
    return row === undefined ? null : toRecord(row);
  },

  async insert(record: IdempotencyRecord): Promise<void> {
    await db.run(insert, toRow(record));
  },

  /** Records of one state, oldest first. */
  async list(accountId: AccountId, state: IdempotencyRecord['state'], limit: number): Promise<IdempotencyRecord[]> {
    const rows = await db.all(list, { accountId, state, limit });
    return rows.map(toRecord);
  },

  /** Marks a record as completed; without an answer, retries are then told that it is missing. */
  async complete(accountId: AccountId, key: string): Promise<void> {
    await db.run(complete, { accountId, key });
  },

  async remove(accountId: AccountId, key: string): Promise<void> {
    await db.run(remove, { accountId, key });
  },

  /** Removes up to `limit` records of all accounts made before the instant, oldest first, and counts them. */
  removeOlder: (before: Instant, limit: number): Promise<number> => db.run(removeOlder, { before, limit }),
});

const toRow = (record: IdempotencyRecord): IdempotencyRow => ({
  account_id: record.accountId,
  idempotency_key: record.key,
  fingerprint_version: record.fingerprintVersion,
  fingerprint: record.fingerprint,
  state: record.state,
  method: record.method,
  path: record.path,
  status: record.answer?.status ?? null,
  content_type: record.answer?.contentType ?? null,
  body: record.answer?.body ?? null,
  created_at: record.createdAt,
});

const toRecord = (row: IdempotencyRow): IdempotencyRecord => ({
  accountId: row.account_id as AccountId,
  key: row.idempotency_key,
  fingerprintVersion: row.fingerprint_version,
  fingerprint: row.fingerprint,
  state: row.state,
  method: row.method,
  path: row.path,
  answer:
    row.status === null || row.content_type === null || row.body === null
      ? null
      : { status: row.status, contentType: row.content_type, body: row.body },
  createdAt: row.created_at as Instant,
});
