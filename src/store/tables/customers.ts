import type { Customer } from '../../contract/customers.ts';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import type { CustomerRow } from '../schema.ts';
import { listsOf } from './lists.ts';

const insert = statement<{
  accountId: string;
  id: string;
  name: string;
  email: string | null;
  emailKey: string | null;
  now: string;
}>()((db, $) =>
  db
    .insertInto('customers')
    .values({
      account_id: $.accountId,
      id: $.id,
      name: $.name,
      email: $.email,
      email_key: $.emailKey,
      active: 1,
      created_at: $.now,
      updated_at: $.now,
    })
    .onConflict((conflict) => conflict.columns(['account_id', 'email_key']).doNothing()),
);

const find = statement<{ accountId: string; id: string }>()((db, $) =>
  db.selectFrom('customers').selectAll().where('account_id', '=', $.accountId).where('id', '=', $.id),
);

const holdRow = statement<{ accountId: string; id: string }>()((db, $) =>
  db.selectFrom('customers').select('id').where('account_id', '=', $.accountId).where('id', '=', $.id).forKeyShare(),
);

const lockRow = statement<{ accountId: string; id: string }>()((db, $) =>
  db.selectFrom('customers').select('id').where('account_id', '=', $.accountId).where('id', '=', $.id).forUpdate(),
);

const list = statement<{ accountId: string; after: string; limit: number }>()((db, $) =>
  db
    .selectFrom('customers')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('id', '>', $.after)
    .orderBy('id')
    .limit($.limit),
);

const releaseLicenses = statement<{ accountId: string; id: string; now: string }>()((db, $) =>
  db
    .updateTable('licenses')
    .set({ customer_id: null, updated_at: $.now })
    .where('account_id', '=', $.accountId)
    .where('customer_id', '=', $.id),
);

const remove = statement<{ accountId: string; id: string }>()((db, $) =>
  db.deleteFrom('customers').where('account_id', '=', $.accountId).where('id', '=', $.id),
);

/** The customers of accounts. */
export const customerRepository = (db: Connection) => ({
  /** Adds an active customer; false when its e-mail address is taken, which is decided without case. */
  async insert(customer: {
    accountId: AccountId;
    id: string;
    name: string;
    email: string | null;
    now: Instant;
  }): Promise<boolean> {
    const emailKey = customer.email?.toLowerCase() ?? null;
    return (await db.run(insert, { ...customer, emailKey })) === 1;
  },

  async find(accountId: AccountId, id: string): Promise<Customer | null> {
    const row = await db.first(find, { accountId, id });
    return row === undefined ? null : toCustomer(row);
  },

  ...listsOf(
    async (accountId, after, limit) => (await db.all(list, { accountId, after, limit })).map(toCustomer),
    matchesFilter,
  ),

  /** Keeps a customer from being removed until this transaction ends; false when there is no such customer. */
  async hold(accountId: AccountId, id: string): Promise<boolean> {
    return (await db.first(holdRow, { accountId, id })) !== undefined;
  },

  /** Removes a customer and leaves its licences without one; false when there is no such customer. */
  async remove(accountId: AccountId, id: string, now: Instant): Promise<boolean> {
    // The lock waits for transactions that hold the customer, so that the licences they add are seen below.
    if ((await db.first(lockRow, { accountId, id })) === undefined) return false;
    await db.run(releaseLicenses, { accountId, id, now });
    return (await db.run(remove, { accountId, id })) === 1;
  },
});

/** Which customers of a list are wanted; without a filter all of them. */
export interface CustomerFilter {
  /** Part of the e-mail address, without case. */
  readonly email?: string | undefined;
  /** The start of a word, or of words in a row, in the name or the e-mail address, without case. */
  readonly text?: string | undefined;
  readonly active?: boolean | undefined;
}

function matchesFilter({ name, email, active }: Customer, filter: CustomerFilter): boolean {
  if (filter.active !== undefined && active !== filter.active) return false;
  if (filter.email !== undefined && !(email ?? '').toLowerCase().includes(filter.email.toLowerCase())) return false;
  if (filter.text === undefined) return true;
  const begun = wordsOf(filter.text);
  return (
    begun.length > 0 &&
    [name, email ?? ''].some((text) => ` ${wordsOf(text).join(' ')}`.includes(` ${begun.join(' ')}`))
  );
}

const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter(Boolean);

const toCustomer = (row: CustomerRow): Customer => ({
  id: row.id,
  name: row.name,
  email: row.email,
  active: row.active === 1,
  createdAt: row.created_at as Instant,
  updatedAt: row.updated_at as Instant,
  createdBy: row.account_id,
});
