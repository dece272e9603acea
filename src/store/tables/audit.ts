import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { insertInto, json, type RecordOf, readerOf, type Table, text } from '../table.ts';

export const auditColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  /** What was done, as `resource.operation`. */
  action: text()('action'),
  /** Who did it. */
  actor: text()('actor'),
  /** What it was done to. */
  subject: text()('subject'),
  details: json<Readonly<Record<string, string>>>()('details'),
  createdAt: text<Instant>()('created_at'),
};

/** One thing that somebody did. Entries are added and never changed. */
export type AuditEntry = Omit<RecordOf<typeof auditColumns>, 'accountId'>;

const audit: Table<typeof auditColumns> = { name: 'audit', columns: auditColumns };
const insert = insertInto(audit);
const toEntry = readerOf(audit, ['id', 'action', 'actor', 'subject', 'details', 'createdAt']);

const list = statement<{ accountId: AccountId; action: string; limit: number }>()((db, $) =>
  db
    .selectFrom('audit')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('action', '=', $.action)
    .orderBy('id')
    .limit($.limit),
);

/** The audit entries of accounts. */
export const auditRepository = (db: Connection) => ({
  async insert(accountId: AccountId, entry: AuditEntry): Promise<void> {
    await db.run(insert, { accountId, ...entry });
  },

  /** Entries of one action, oldest first. */
  async list(accountId: AccountId, action: string, limit: number): Promise<AuditEntry[]> {
    return (await db.all(list, { accountId, action, limit })).map((row) => toEntry(row));
  },
});
