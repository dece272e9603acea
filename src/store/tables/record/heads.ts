import { sql } from 'kysely';
import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import { insertInto, integer, optional, type RecordOf, readerOf, type Table, text } from '../../table.ts';

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

const find = statement<{ accountId: AccountId }>()((db, $) =>
  db.selectFrom('record_heads').selectAll().where('account_id', '=', $.accountId),
);

const lock = statement<{ accountId: AccountId }>()((db, $) =>
  db.selectFrom('record_heads').selectAll().where('account_id', '=', $.accountId).forUpdate(),
);

const move = statement<RecordHead>()((db, $) =>
  db
    .updateTable('record_heads')
    .set({
      audit_seq: $.auditSeq,
      audit_hash: $.auditHash,
      event_seq: $.eventSeq,
      checkpoint_seq: $.checkpointSeq,
      checkpoint_at: $.checkpointAt,
    })
    .where('account_id', '=', $.accountId),
);

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
  async find(accountId: AccountId): Promise<RecordHead | null> {
    const row = await db.first(find, { accountId });
    return row === undefined ? null : read(row);
  },

  /** The head, which nobody else moves until this transaction ends; null before the first row. */
  async lock(accountId: AccountId): Promise<RecordHead | null> {
    const row = await db.first(lock, { accountId });
    return row === undefined ? null : read(row);
  },

  insert: (head: RecordHead): Promise<number> => db.run(insert, head),

  move: (head: RecordHead): Promise<number> => db.run(move, head),

  /** The first accounts behind that one which have rows after their last checkpoint. */
  listUnsigned: async (after: AccountId | ''): Promise<RecordHead[]> => (await db.all(unsigned, { after })).map(read),
});
