import { sql } from 'kysely';
import type { AccountId } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import { insertManyInto, integer, type RecordOf, readerOf, type Table, text } from '../../table.ts';

export const auditColumns = {
  accountId: text<AccountId>()('account_id'),
  /** From 1, without a gap in its account. */
  seq: integer()('seq'),
  /** What was done, as it stands in the content too. */
  operation: text()('operation'),
  /** The row as its hash covers it: canonical JSON. */
  content: text()('content'),
  /** Over the hash of the row before and the content. */
  hash: text()('hash'),
};

/** A row of the audit log. Rows are added and never changed. */
export type AuditRecord = RecordOf<typeof auditColumns>;

const audit: Table<typeof auditColumns> = { name: 'audit', columns: auditColumns };
const insertMany = insertManyInto(audit);
const read = readerOf(audit);

/** Which part of a numbered list is wanted: after `after`, up to `until`, at most `limit` rows. */
export interface SeqRange {
  readonly after: number;
  readonly until: number;
  readonly limit: number;
}

const list = statement<SeqRange & { accountId: AccountId }>()((db, $) =>
  db
    .selectFrom('audit')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('seq', '>', $.after)
    .where('seq', '<=', $.until)
    .orderBy('seq')
    .limit($.limit),
);

/** The operation whose rows have an index of their own. */
const RESOLVE = 'idempotency.resolve';

const resolutions = statement<{ accountId: AccountId; limit: number }>()((db, $) =>
  db
    .selectFrom('audit')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('operation', '=', sql.lit(RESOLVE))
    .orderBy('seq')
    .limit($.limit),
);

/** The numbered audit log of accounts. */
export const auditRepository = (db: Connection) => ({
  insertMany: (rows: readonly AuditRecord[]): Promise<void> => insertMany(db, rows),

  /** Rows, oldest first. */
  async list(accountId: AccountId, range: SeqRange): Promise<AuditRecord[]> {
    return (await db.all(list, { accountId, ...range })).map(read);
  },

  /** The rows of `idempotency.resolve`, oldest first. */
  async listResolutions(accountId: AccountId, limit: number): Promise<AuditRecord[]> {
    return (await db.all(resolutions, { accountId, limit })).map(read);
  },
});
