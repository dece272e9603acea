import type { AccountId, Instant, LicenseKey } from '../../../contract/scalars.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { sql } from '../../engine/sql.ts';

/** The keys that licences had before; none of them is ever given to another licence. */
export const previousKeyRepository = (db: Connection) => ({
  /** Keeps the key that a licence has until now: it works until then, and those before it no longer. */
  async add({ accountId, id, key }: License, until: Instant): Promise<void> {
    await db.run(sql`
      update previous_keys set valid_until = ${until}
      where account_id = ${accountId} and license_id = ${id} and valid_until > ${until}`);
    await db.run(sql`
      insert into previous_keys (account_id, license_key, license_id, valid_until)
      values (${accountId}, ${key}, ${id}, ${until})`);
  },

  /** The key that stands for an earlier one which works at this instant; null when there is none. */
  replacement(accountId: AccountId, key: LicenseKey, at: Instant): Promise<LicenseKey | null> {
    const current = sql`
      select l.license_key from previous_keys as p join licenses as l on l.account_id = p.account_id and l.id = p.license_id
      where p.account_id = ${accountId} and p.license_key = ${key} and p.valid_until > ${at}`;
    return db.first(current, (row: { license_key: LicenseKey }) => row.license_key);
  },
});
