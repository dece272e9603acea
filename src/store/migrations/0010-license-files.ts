import { type Kysely, sql } from 'kysely';
import { clustered } from './clustered.ts';

/** The licence files that were signed, and the number of each account's revocation list. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('license_files')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('id', 'text', (c) => c.notNull())
    // No reference: the files of a licence stay when it is deleted.
    .addColumn('license_id', 'text', (c) => c.notNull())
    .addColumn('host_id', 'text', (c) => c.notNull())
    .addColumn('kid', 'text', (c) => c.notNull())
    .addColumn('signed_at', 'text', (c) => c.notNull())
    .addColumn('ends_at', 'text', (c) => c.notNull())
    .addColumn('revoked_at', 'text')
    .addPrimaryKeyConstraint('license_files_pk', ['account_id', 'id'])
    .$call(clustered(db))
    .execute();

  await db.schema
    .createIndex('license_files_by_license')
    .on('license_files')
    .columns(['account_id', 'license_id', 'ends_at'])
    .execute();
  await db.schema.createIndex('license_files_by_end').on('license_files').column('ends_at').execute();

  // Anybody may ask for the revocation list, so it must not cost more than what stands in it.
  await sql`create index license_files_revoked on license_files (account_id, id) where revoked_at is not null`.execute(
    db,
  );

  await db.schema
    .createTable('revocation_lists')
    .addColumn('account_id', 'text', (c) => c.primaryKey().references('accounts.id'))
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('changed_at', 'text', (c) => c.notNull())
    .execute();
}
