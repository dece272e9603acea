import type { AccountId } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { sql } from '../../engine/sql.ts';
import { integer, type RecordOf, type Row, tableOf, text } from '../../table.ts';

const audit = tableOf('audit', {
  accountId: text<AccountId>('account_id'),
  /** From 1, without a gap in its account. */
  seq: integer('seq'),
  /** The operation, as in the content. */
  operation: text('operation'),
  /** The hashed text of the row: canonical JSON. */
  content: text('content'),
  /** The hash over the hash of the row before and the content. */
  hash: text('hash'),
});

/** A row of the audit log. Rows are added and never changed. */
export type AuditRecord = RecordOf<typeof audit.columns>;

/** A part of a numbered list: after `after`, up to `until`, at most `limit` rows. */
export interface SeqRange {
  readonly after: number;
  readonly until: number;
  readonly limit: number;
}

/**
 * The names of the token, product and customer whose ids a row of a numbered list has; null for a missing id or a removed
 * object.
 */
export interface RecordNames {
  readonly tokenName: string | null;
  readonly productName: string | null;
  readonly customerName: string | null;
  readonly customerEmail: string | null;
}

/** The names in a row of the views `named_audit` and `named_events`. */
export const readNames = (row: Row): RecordNames => ({
  tokenName: row.token_name as string | null,
  productName: row.product_name as string | null,
  customerName: row.customer_name as string | null,
  customerEmail: row.customer_email as string | null,
});

/** The numbered audit log of accounts. */
export const auditRepository = (db: Connection) => ({
  insertMany: (rows: readonly AuditRecord[]) => audit.insertMany(db, rows),

  /** Rows, oldest first. */
  list: (accountId: AccountId, { after, until, limit }: SeqRange) =>
    db.all(
      sql`
        select * from named_audit where account_id = ${accountId} and seq > ${after} and seq <= ${until}
        order by seq limit ${limit}`,
      (row: Row) => ({ ...audit.read(row), names: readNames(row) }),
    ),
});
