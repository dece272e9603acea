import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { sql } from '../engine/sql.ts';
import { type RecordOf, tableOf, text } from '../table.ts';

const accounts = tableOf('accounts', {
  id: text<AccountId>('id'),
  name: text('name'),
  createdAt: text<Instant>('created_at'),
});

/** A vendor. Every other record belongs to one account, and no statement crosses accounts. */
export type Account = RecordOf<typeof accounts.columns>;

export const accountRepository = (db: Connection) => ({
  /** Adds an account; false when the name is taken. */
  insert: (account: Account) => accounts.insert(db, account, sql`on conflict (name) do nothing`),

  /** Locks the account for this transaction: other callers wait. */
  lock: (id: AccountId) => accounts.lock(db, { id }),

  /** The first account after `after`; null after the last. */
  async next(after: AccountId | ''): Promise<AccountId | null> {
    const next = await accounts.first(db)`select * from accounts where id > ${after} order by id limit 1`;
    return next?.id ?? null;
  },

  /** The owner of a database with one account. */
  oldest: () => accounts.first(db)`select * from accounts order by id limit 1`,
});
