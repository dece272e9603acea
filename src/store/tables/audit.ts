import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import type { AuditRow } from '../schema.ts';

/** One thing that somebody did. Entries are added and never changed. */
export interface AuditEntry {
  readonly id: string;
  /** What was done, as `resource.operation`. */
  readonly action: string;
  /** Who did it. */
  readonly actor: string;
  /** What it was done to. */
  readonly subject: string;
  readonly details: Readonly<Record<string, string>>;
  readonly createdAt: Instant;
}

const insert = statement<AuditRow>()((db, $) =>
  db.insertInto('audit').values({
    account_id: $.account_id,
    id: $.id,
    action: $.action,
    actor: $.actor,
    subject: $.subject,
    details: $.details,
    created_at: $.created_at,
  }),
);

const list = statement<{ accountId: string; action: string; limit: number }>()((db, $) =>
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
    await db.run(insert, {
      account_id: accountId,
      id: entry.id,
      action: entry.action,
      actor: entry.actor,
      subject: entry.subject,
      details: JSON.stringify(entry.details),
      created_at: entry.createdAt,
    });
  },

  /** Entries of one action, oldest first. */
  async list(accountId: AccountId, action: string, limit: number): Promise<AuditEntry[]> {
    const rows = await db.all(list, { accountId, action, limit });
    return rows.map(toEntry);
  },
});

const toEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  action: row.action,
  actor: row.actor,
  subject: row.subject,
  details: JSON.parse(row.details) as Record<string, string>,
  createdAt: row.created_at as Instant,
});
