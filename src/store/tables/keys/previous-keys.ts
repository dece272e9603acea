import type { AccountId, Instant, LicenseKey } from '../../../contract/scalars.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { sql } from '../../engine/sql.ts';

/** Keys that no licence may get: earlier keys of licences, and all keys of revoked and deleted licences. */
export const previousKeyRepository = (db: Connection) => ({
  /** Makes the present key of a licence an earlier key that works until the given instant; older keys end by then. */
  async add({ accountId, id, key }: License, until: Instant): Promise<void> {
    await db.run(sql`
      update previous_keys set valid_until = ${until}
      where account_id = ${accountId} and license_id = ${id} and valid_until > ${until}`);
    await db.run(sql`
      insert into previous_keys (account_id, license_key, license_id, valid_until)
      values (${accountId}, ${key}, ${id}, ${until})`);
  },

  /** Frees the earlier keys of a deleted licence that was not revoked. */
  async release({ accountId, id }: License): Promise<void> {
    await db.run(sql`delete from previous_keys where account_id = ${accountId} and license_id = ${id}`);
  },

  /** The present key for an earlier key that still works; null for other keys. */
  replacement(accountId: AccountId, key: LicenseKey, at: Instant): Promise<LicenseKey | null> {
    const current = sql`
      select l.license_key from previous_keys as p join licenses as l on l.account_id = p.account_id and l.id = p.license_id
      where p.account_id = ${accountId} and p.license_key = ${key} and p.valid_until > ${at}`;
    return db.first(current, (row: { license_key: LicenseKey }) => row.license_key);
  },

  /** Whether a key is an earlier key of a licence, or was revoked and deleted; null if neither. */
  stateOf(accountId: AccountId, key: LicenseKey): Promise<'earlier' | 'revoked' | null> {
    const found = sql`
      select l.id from previous_keys as p left join licenses as l on l.account_id = p.account_id and l.id = p.license_id
      where p.account_id = ${accountId} and p.license_key = ${key}`;
    return db.first(found, ({ id }: { id: string | null }) => (id === null ? 'revoked' : 'earlier'));
  },
});
