import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { sql } from '../engine/sql.ts';
import { type RecordOf, tableOf, text } from '../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  customerId: text('customer_id'),
  /** Hex SHA-256 of the token in the link. */
  hash: text('hash'),
  expiresAt: text<Instant>('expires_at'),
};

const links = tableOf('customer_links', columns);

export type CustomerLink = RecordOf<typeof columns>;

/** The links that customers were given to their page. */
export const customerLinkRepository = (db: Connection) => ({
  /** Adds a link, and removes expired links of the account. */
  async insert(link: CustomerLink, now: Instant): Promise<void> {
    await db.run(sql`delete from customer_links where account_id = ${link.accountId} and expires_at <= ${now}`);
    await links.add(db, link);
  },

  /** The link with this hash, of any account. */
  findByHash: (hash: string): Promise<CustomerLink | null> => links.find(db, { hash }),

  /** Removes all links of a customer. Returns how many they were. */
  remove: (accountId: AccountId, customerId: string): Promise<number> => links.remove(db, { accountId, customerId }),
});
