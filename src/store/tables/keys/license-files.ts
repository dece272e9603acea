import type { AccountId, HostId, Instant } from '../../../contract/scalars.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { sql } from '../../engine/sql.ts';
import { optional, type RecordOf, tableOf, text } from '../../table.ts';

const files = tableOf('license_files', {
  accountId: text<AccountId>('account_id'),
  id: text('id'),
  licenseId: text('license_id'),
  hostId: text<HostId>('host_id'),
  kid: text('kid'),
  signedAt: text<Instant>('signed_at'),
  endsAt: text<Instant>('ends_at'),
  revokedAt: optional(text<Instant>('revoked_at')),
});

/** A licence file that was signed; its id is the `jti`. */
type LicenseFile = RecordOf<typeof files.columns>;

/** The most files that are listed. */
const MAX_LIST_ROWS = 1_000;

const isOf = ({ accountId, id }: License) => sql`account_id = ${accountId} and license_id = ${id}`;

/** The licence files that were signed, until a while after their end. */
export const licenseFileRepository = (db: Connection) => {
  /** Gives the account's revocation list its next number. */
  const renumber = (accountId: AccountId, now: Instant) =>
    db.run(sql`
      insert into revocation_lists (account_id, seq, changed_at) values (${accountId}, 1, ${now})
      on conflict (account_id) do update set seq = revocation_lists.seq + 1, changed_at = excluded.changed_at`);

  return {
    insert: (file: LicenseFile) => files.add(db, file),

    /** A file of a licence that has not ended; null for other files. */
    findOutstanding: ({ accountId, id: licenseId }: License, id: string, now: Instant) =>
      files.first(db)`
        select * from license_files where account_id = ${accountId} and id = ${id} and license_id = ${licenseId}
          and ends_at > ${now}`,

    /** The files of a licence that have not ended, the file with the latest end first. */
    listOutstanding: (license: License, now: Instant) => files.all(db)`
      select * from license_files where ${isOf(license)} and ends_at > ${now}
      order by ends_at desc, id desc limit ${MAX_LIST_ROWS}`,

    /**
     * Revokes the files of one host that have not ended, or with null the files of every host, and returns them. To be
     * called when a device is freed or a licence deleted.
     */
    async revoke(license: License, hostId: HostId | null, now: Instant): Promise<LicenseFile[]> {
      const which = hostId === null ? isOf(license) : sql`${isOf(license)} and host_id = ${hostId}`;
      const revoked = await files.all(db)`
        update license_files set revoked_at = ${now} where ${which} and ends_at > ${now} and revoked_at is null
        returning *`;
      if (revoked.length > 0) await renumber(license.accountId, now);
      return revoked;
    },

    /** Updates the revocation list after a licence was blocked or unblocked. */
    async noteBlocking(license: License, now: Instant): Promise<void> {
      const any = await db.first(sql`select id from license_files where ${isOf(license)} limit 1`);
      if (any !== null) await renumber(license.accountId, now);
    },

    /** Updates the revocation list after several licences were blocked or unblocked. */
    noteBlockings: renumber,

    /**
     * The content of the account's revocation list: its number, 0 before the first change; the ids of files whose device was
     * freed or whose licence was deleted; and the ids of blocked licences, all files of which are revoked.
     */
    async revocations(accountId: AccountId) {
      // One statement, so that the number and the list are of the same moment.
      const rows = await db.all<RevocationRow>(sql`
        select seq, changed_at, null as file_id, null as license_id
        from revocation_lists where account_id = ${accountId}
        union all
        select null, null, id, null from license_files where account_id = ${accountId} and revoked_at is not null
        union all
        select null, null, null, l.id from licenses as l where l.account_id = ${accountId} and l.vendor_disabled = 1 and exists (
          select 1 from license_files as f where f.account_id = l.account_id and f.license_id = l.id)
        order by file_id, license_id`);
      const list = rows.find(({ seq }) => seq !== null);
      return {
        seq: list?.seq ?? 0,
        changedAt: list?.changed_at ?? null,
        files: rows.flatMap(({ file_id }) => file_id ?? []),
        licenses: rows.flatMap(({ license_id }) => license_id ?? []),
      };
    },

    /** The current number of {@link revocations}. */
    async revocationSeq(accountId: AccountId): Promise<number> {
      const number = sql`select seq from revocation_lists where account_id = ${accountId}`;
      return (await db.first<{ seq: number }>(number))?.seq ?? 0;
    },

    /** Removes up to `limit` files of all accounts that ended before the instant; returns the account of each. */
    async removeEnded(before: Instant, limit: number, now: Instant): Promise<AccountId[]> {
      const removal = sql`
        delete from license_files where (account_id, id) in (
          select account_id, id from license_files where ends_at < ${before} order by ends_at limit ${limit})
        returning account_id`;
      const accountIds = await db.all(removal, (row: { account_id: AccountId }) => row.account_id);
      for (const accountId of [...new Set(accountIds)].sort()) await renumber(accountId, now);
      return accountIds;
    },
  };
};

/** A row of a revocation list: its number, a file or a licence. */
type RevocationRow = Record<'file_id' | 'license_id', string | null> &
  ({ seq: number; changed_at: Instant } | { seq: null; changed_at: null });
