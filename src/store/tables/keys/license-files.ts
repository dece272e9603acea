import { type Kysely, sql } from 'kysely';
import type { AccountId, HostId, Instant } from '../../../contract/scalars.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';
import type { Tables } from '../../schema.ts';
import { insertInto, integer, optional, type RecordOf, readerOf, type Table, text } from '../../table.ts';

export const licenseFileColumns = {
  accountId: text<AccountId>()('account_id'),
  id: text()('id'),
  licenseId: text()('license_id'),
  hostId: text<HostId>()('host_id'),
  kid: text()('kid'),
  signedAt: text<Instant>()('signed_at'),
  endsAt: text<Instant>()('ends_at'),
  revokedAt: optional(text<Instant>()('revoked_at')),
};

/** The number of an account's revocation list; an account whose list has never changed has no row. */
export const revocationListColumns = {
  accountId: text<AccountId>()('account_id'),
  seq: integer()('seq'),
  changedAt: text<Instant>()('changed_at'),
};

/** A licence file that was signed: its id (`jti`), its device and its end. */
export type LicenseFile = RecordOf<typeof licenseFileColumns>;

/** What a revocation list states. */
export interface Revocations {
  /** 0 for a list that has never changed. */
  readonly seq: number;
  readonly changedAt: Instant | null;
  /** Ids of files whose device was freed or whose licence was deleted. */
  readonly files: readonly string[];
  /** Ids of blocked licences: all their files are revoked as long as they are blocked. */
  readonly licenses: readonly string[];
}

const files: Table<typeof licenseFileColumns> = { name: 'license_files', columns: licenseFileColumns };
const insert = insertInto(files);
const toFile = readerOf(files);

interface OfLicense {
  readonly accountId: AccountId;
  readonly licenseId: string;
  readonly now: Instant;
}

/** More files than a person looks through. */
const MAX_LIST_ROWS = 1_000;

const outstanding = statement<OfLicense>()((db, $) =>
  db
    .selectFrom('license_files')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('ends_at', '>', $.now)
    .orderBy('ends_at', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(MAX_LIST_ROWS)),
);

const newest = statement<{ accountId: AccountId; limit: number }>()((db, $) =>
  db.selectFrom('license_files').selectAll().where('account_id', '=', $.accountId).orderBy('id', 'desc').limit($.limit),
);

const revoked = (db: Kysely<Tables>, $: OfLicense) =>
  db
    .updateTable('license_files')
    .set({ revoked_at: $.now })
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('ends_at', '>', $.now)
    .where('revoked_at', 'is', null)
    .returningAll();

const revokeAll = statement<OfLicense>()(revoked);

const revokeOfHost = statement<OfLicense & { hostId: HostId }>()((db, $) =>
  revoked(db, $).where('host_id', '=', $.hostId),
);

const any = statement<{ accountId: AccountId; licenseId: string }>()((db, $) =>
  db
    .selectFrom('license_files')
    .select('id')
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .limit(sql.lit(1)),
);

const advance = statement<{ accountId: AccountId; now: Instant }>()((db, $) =>
  db
    .insertInto('revocation_lists')
    .values({ account_id: $.accountId, seq: 1, changed_at: $.now })
    .onConflict((on) =>
      on.column('account_id').doUpdateSet((list) => ({
        seq: list('revocation_lists.seq', '+', 1),
        changed_at: list.ref('excluded.changed_at'),
      })),
    ),
);

const removeEnded = statement<{ before: Instant; limit: number }>()((db, $) =>
  db
    .deleteFrom('license_files')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('account_id', 'id'),
        'in',
        selectFrom('license_files as ended')
          .select(['ended.account_id', 'ended.id'])
          .where('ended.ends_at', '<', $.before)
          .orderBy('ended.ends_at')
          .limit($.limit)
          .$asTuple('account_id', 'id'),
      ),
    )
    .returning('account_id'),
);

const noNumber = sql<number | null>`cast(null as integer)`.as('seq');
const noInstant = sql<Instant | null>`cast(null as text)`.as('changed_at');
const noFile = sql<string | null>`cast(null as text)`.as('file_id');
const noLicense = sql<string | null>`cast(null as text)`.as('license_id');

const listNumber = statement<{ accountId: AccountId }>()((db, $) =>
  db.selectFrom('revocation_lists').select('seq').where('account_id', '=', $.accountId),
);

/** One statement, so that the number and what it numbers are of the same moment. */
const revocations = statement<{ accountId: AccountId }>()((db, $) =>
  db
    .selectFrom('revocation_lists')
    .select([sql<number | null>`seq`.as('seq'), sql<Instant | null>`changed_at`.as('changed_at'), noFile, noLicense])
    .where('account_id', '=', $.accountId)
    .unionAll(
      db
        .selectFrom('license_files')
        .select([noNumber, noInstant, sql<string | null>`id`.as('file_id'), noLicense])
        .where('account_id', '=', $.accountId)
        .where('revoked_at', 'is not', null),
    )
    .unionAll(
      db
        .selectFrom('licenses as l')
        .select([noNumber, noInstant, noFile, sql<string | null>`l.id`.as('license_id')])
        .where('l.account_id', '=', $.accountId)
        .where('l.vendor_disabled', '=', sql.lit(1))
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('license_files as f')
              .select('f.id')
              .whereRef('f.account_id', '=', 'l.account_id')
              .whereRef('f.license_id', '=', 'l.id'),
          ),
        ),
    )
    .orderBy('file_id')
    .orderBy('license_id'),
);

/** The licence files that accounts have signed and that have not ended long ago. */
export const licenseFileRepository = (db: Connection) => {
  /** Gives the account's revocation list its next number. */
  const renumber = async (accountId: AccountId, now: Instant): Promise<void> => {
    await db.run(advance, { accountId, now });
  };

  return {
    async insert(file: LicenseFile): Promise<void> {
      await db.run(insert, file);
    },

    /** The files of an account that were signed last, the newest first. */
    async listNewest(accountId: AccountId, limit: number): Promise<LicenseFile[]> {
      return (await db.all(newest, { accountId, limit })).map(toFile);
    },

    /** The files of a licence that have not ended, the one that lasts longest first. */
    async listOutstanding(license: License, now: Instant): Promise<LicenseFile[]> {
      return (await db.all(outstanding, { ...idsOf(license), now })).map(toFile);
    },

    /**
     * Revokes the files of one host that have not ended, or with null those of every host, and returns them. To be called
     * by whatever frees a device or deletes a licence.
     */
    async revoke(license: License, hostId: HostId | null, now: Instant): Promise<LicenseFile[]> {
      const rows =
        hostId === null
          ? await db.all(revokeAll, { ...idsOf(license), now })
          : await db.all(revokeOfHost, { ...idsOf(license), hostId, now });
      if (rows.length > 0) await renumber(license.accountId, now);
      return rows.map(toFile);
    },

    /** Notes that a licence was blocked or unblocked: its files are then in the revocation list, or are not any more. */
    async noteBlocking(license: License, now: Instant): Promise<void> {
      if ((await db.first(any, idsOf(license))) !== undefined) await renumber(license.accountId, now);
    },

    /** Notes the same of several licences of the account. */
    noteBlockings: renumber,

    /** What the account's revocation list states. An ended file stays in it until it is removed. */
    async revocations(accountId: AccountId): Promise<Revocations> {
      const rows = await db.all(revocations, { accountId });
      const list = rows.find(({ seq }) => seq !== null);
      return {
        seq: list?.seq ?? 0,
        changedAt: list?.changed_at ?? null,
        files: rows.flatMap(({ file_id }) => file_id ?? []),
        licenses: rows.flatMap(({ license_id }) => license_id ?? []),
      };
    },

    /** The number of what {@link revocations} states now. */
    async revocationSeq(accountId: AccountId): Promise<number> {
      return (await db.first(listNumber, { accountId }))?.seq ?? 0;
    },

    /** Removes up to `limit` files of all accounts that ended before the instant; returns the account of each. */
    async removeEnded(before: Instant, limit: number, now: Instant): Promise<AccountId[]> {
      const rows = await db.all(removeEnded, { before, limit });
      const accountIds = [...new Set(rows.map(({ account_id }) => account_id))].sort();
      for (const accountId of accountIds) await renumber(accountId, now);
      return rows.map(({ account_id }) => account_id);
    },
  };
};

const idsOf = (license: License) => ({ accountId: license.accountId, licenseId: license.id });
