import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import { insertInto, integer, type RecordOf, readerOf, type Table, text } from '../../table.ts';

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
const insert = insertInto(checkpoints);
const read = readerOf(checkpoints);

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
    await db.run(insert, checkpoint);
  },

  /** Checkpoints after the row `after`, oldest first. */
  async list(
    accountId: AccountId,
    page: { readonly after: number; readonly limit: number },
  ): Promise<RecordOf<typeof checkpointColumns>[]> {
    return (await db.all(list, { accountId, ...page })).map(read);
  },
});
