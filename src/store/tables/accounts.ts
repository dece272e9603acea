import { sql } from 'kysely';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { byKey, insertInto, type RecordOf, readerOf, type Table, text } from '../table.ts';

export const accountColumns = {
  id: text<AccountId>()('id'),
  name: text()('name'),
  createdAt: text<Instant>()('created_at'),
};

/** A vendor: everything else belongs to one, and no statement crosses accounts. */
export type Account = RecordOf<typeof accountColumns>;

const accounts: Table<typeof accountColumns> = { name: 'accounts', columns: accountColumns };
const insert = insertInto(accounts, { skipConflictsOn: { columns: ['name'] } });
const toAccount = readerOf(accounts);
const byId = byKey(accounts, ['id'], toAccount);

const oldest = statement<object>()((db) => db.selectFrom('accounts').selectAll().orderBy('id').limit(sql.lit(1)));

const next = statement<{ after: string }>()((db, $) =>
  db.selectFrom('accounts').select('id').where(sql<boolean>`id > ${$.after}`).orderBy('id').limit(sql.lit(1)),
);

/** The accounts of an instance. */
export const accountRepository = (db: Connection) => ({
  /** Adds an account; false when the name is taken. */
  async insert(account: Account): Promise<boolean> {
    return (await db.run(insert, account)) === 1;
  },

  /** Makes all others that take this lock wait until this transaction ends. */
  async lock(id: AccountId): Promise<void> {
    await byId.lock(db, { id });
  },

  /** The first account after `after`; null after the last. */
  async next(after: AccountId | ''): Promise<AccountId | null> {
    return (await db.first(next, { after }))?.id ?? null;
  },

  /** The account that was made first: the owner of a database with one account. */
  async oldest(): Promise<Account | null> {
    const row = await db.first(oldest, {});
    return row === undefined ? null : toAccount(row);
  },
});
