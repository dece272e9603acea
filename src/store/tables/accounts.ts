import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';

/** A vendor: everything else belongs to one, and no statement crosses accounts. */
export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly createdAt: Instant;
}

const insert = statement<{ id: string; name: string; createdAt: string }>()((db, $) =>
  db
    .insertInto('accounts')
    .values({ id: $.id, name: $.name, created_at: $.createdAt })
    .onConflict((conflict) => conflict.column('name').doNothing()),
);

const oldest = statement<object>()((db) => db.selectFrom('accounts').selectAll().orderBy('id').limit(1));

const lock = statement<{ id: string }>()((db, $) =>
  db
    .updateTable('accounts')
    .set((a) => ({ name: a.ref('name') }))
    .where('id', '=', $.id),
);

/** The accounts of an instance. */
export const accountRepository = (db: Connection) => ({
  /** Adds an account; false when the name is taken. */
  async insert(account: Account): Promise<boolean> {
    return (await db.run(insert, account)) === 1;
  },

  /** Makes all others that take this lock wait until this transaction ends. */
  async lock(id: AccountId): Promise<void> {
    await db.run(lock, { id });
  },

  /** The account that was made first: the owner of a database with one account. */
  async oldest(): Promise<Account | null> {
    const row = await db.first(oldest, {});
    return row === undefined ? null : { id: row.id as AccountId, name: row.name, createdAt: row.created_at as Instant };
  },
});
