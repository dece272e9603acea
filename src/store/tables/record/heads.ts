import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { integer, optional, type RecordOf, tableOf, text, unlessTaken } from '../../table.ts';

const heads = tableOf('record_heads', {
  accountId: text<AccountId>('account_id'),
  auditSeq: integer('audit_seq'),
  auditHash: text('audit_hash'),
  eventSeq: integer('event_seq'),
  checkpointSeq: integer('checkpoint_seq'),
  checkpointAt: optional(text<Instant>('checkpoint_at')),
});

/** How far an account's record is numbered: its last audit row, its last event and its last checkpoint. */
export type RecordHead = RecordOf<typeof heads.columns>;

/** How far the records of accounts are numbered. */
export const recordHeadRepository = (db: Connection) => ({
  find: (accountId: AccountId) => heads.find(db, { accountId }),

  /** Locks and returns the head of an account; null before the first row. */
  lock: (accountId: AccountId) => heads.lock(db, { accountId }),

  /** Adds a head; false when the account has a head. */
  insert: (head: RecordHead) => heads.insert(db, head, unlessTaken),

  move: ({ accountId, ...head }: RecordHead) => heads.set(db, { accountId }, head),

  /** The next accounts with rows after their last checkpoint. */
  listUnsigned: (after: AccountId | '') => heads.all(db)`
    select * from record_heads where audit_seq > checkpoint_seq and account_id > ${after} order by account_id limit 100`,
});

const checkpoints = tableOf('checkpoints', {
  accountId: text<AccountId>('account_id'),
  /** The number of the audit row that the checkpoint signs. */
  seq: integer('seq'),
  hash: text('hash'),
  at: text<Instant>('created_at'),
  kid: text('kid'),
  signature: text('signature'),
});

/** The signed checkpoints of accounts. */
export const checkpointRepository = (db: Connection) => ({
  insert: (checkpoint: RecordOf<typeof checkpoints.columns>) => checkpoints.add(db, checkpoint),

  /** Checkpoints after the row `after`, oldest first. */
  list: (accountId: AccountId, { after, limit }: { readonly after: number; readonly limit: number }) =>
    checkpoints.all(db)`
      select * from checkpoints where account_id = ${accountId} and seq > ${after} order by seq limit ${limit}`,
});
