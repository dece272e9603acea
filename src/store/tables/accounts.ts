import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { sql } from '../engine/sql.ts';
import { type RecordOf, tableOf, text } from '../table.ts';

const columns = {
  id: text<AccountId>('id'),
  name: text('name'),
  createdAt: text<Instant>('created_at'),
};

/** A vendor: everything else belongs to one, and no statement crosses accounts. */
export type Account = RecordOf<typeof columns>;

const accounts = tableOf('accounts', columns);

/** The accounts of an instance. */
export const accountRepository = (db: Connection) => ({
  /** Adds an account; false when the name is taken. */
  insert: (account: Account): Promise<boolean> => accounts.insert(db, account, sql`on conflict (name) do nothing`),

  /** Makes all others that take this lock wait until this transaction ends. */
  async lock(id: AccountId): Promise<void> {
    await accounts.lock(db, { id });
  },

  /** The first account after `after`; null after the last. */
  async next(after: AccountId | ''): Promise<AccountId | null> {
    const next = sql`select * from accounts where id > ${after} order by id limit 1`;
    return (await accounts.first(db, next))?.id ?? null;
  },

  /** The account that was made first: the owner of a database with one account. */
  oldest: (): Promise<Account | null> => accounts.first(db, sql`select * from accounts order by id limit 1`),
});
