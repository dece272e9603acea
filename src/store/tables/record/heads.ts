import { sql } from 'kysely';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import { byKey, insertInto, integer, optional, type RecordOf, readerOf, type Table, text } from '../../table.ts';

export const recordHeadColumns = {
  accountId: text<AccountId>()('account_id'),
  auditSeq: integer()('audit_seq'),
  auditHash: text()('audit_hash'),
  eventSeq: integer()('event_seq'),
  checkpointSeq: integer()('checkpoint_seq'),
  checkpointAt: optional(text<Instant>()('checkpoint_at')),
};

/** How far an account's record is numbered: its last audit row, its last event and its last checkpoint. */
export type RecordHead = RecordOf<typeof recordHeadColumns>;

const heads: Table<typeof recordHeadColumns> = { name: 'record_heads', columns: recordHeadColumns };
const insert = insertInto(heads, { skipConflictsOn: { columns: ['account_id'] } });
const read = readerOf(heads);
const byAccount = byKey(heads, ['accountId'], read);
const move = byAccount.setting(['auditSeq', 'auditHash', 'eventSeq', 'checkpointSeq', 'checkpointAt']);

const unsigned = statement<{ after: string }>()((db, $) =>
  db
    .selectFrom('record_heads')
    .selectAll()
    .whereRef('audit_seq', '>', 'checkpoint_seq')
    .where(sql<boolean>`account_id > ${$.after}`)
    .orderBy('account_id')
    .limit(sql.lit(MAX_UNSIGNED)),
);

const MAX_UNSIGNED = 100;

/** How far the records of accounts are numbered. */
export const recordHeadRepository = (db: Connection) => ({
  find: (accountId: AccountId): Promise<RecordHead | null> => byAccount.find(db, { accountId }),

  /** The head, which nobody else moves until this transaction ends; null before the first row. */
  lock: (accountId: AccountId): Promise<RecordHead | null> => byAccount.lock(db, { accountId }),

  insert: (head: RecordHead): Promise<number> => db.run(insert, head),

  move: (head: RecordHead): Promise<number> => db.run(move, head),

  /** The first accounts behind that one which have rows after their last checkpoint. */
  listUnsigned: async (after: AccountId | ''): Promise<RecordHead[]> => (await db.all(unsigned, { after })).map(read),
});

export const checkpointColumns = {
  accountId: text<AccountId>()('account_id'),
  /** The audit row that it vouches for, with all before it. */
  seq: integer()('seq'),
  hash: text()('hash'),
  at: text<Instant>()('created_at'),
  kid: text()('kid'),
  signature: text()('signature'),
};

const checkpoints: Table<typeof checkpointColumns> = { name: 'checkpoints', columns: checkpointColumns };
const insertCheckpoint = insertInto(checkpoints);
const toCheckpoint = readerOf(checkpoints);

const list = statement<{ accountId: AccountId; after: number; limit: number }>()((db, $) =>
  db
    .selectFrom('checkpoints')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('seq', '>', $.after)
    .orderBy('seq')
    .limit($.limit),
);

/** The signed checkpoints of accounts. */
export const checkpointRepository = (db: Connection) => ({
  async insert(checkpoint: RecordOf<typeof checkpointColumns>): Promise<void> {
    await db.run(insertCheckpoint, checkpoint);
  },

  /** Checkpoints after the row `after`, oldest first. */
  async list(
    accountId: AccountId,
    page: { readonly after: number; readonly limit: number },
  ): Promise<RecordOf<typeof checkpointColumns>[]> {
    return (await db.all(list, { accountId, ...page })).map(toCheckpoint);
  },
});
