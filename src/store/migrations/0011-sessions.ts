import type { Kysely } from 'kysely';

/** Sessions can be prolonged, listed and found by their id; devices can be rebound. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('sessions').addColumn('previous_nonce', 'text').execute();
  await db.schema.createIndex('sessions_by_id').unique().on('sessions').columns(['account_id', 'id']).execute();
  await db.schema.createIndex('sessions_by_end').on('sessions').columns(['expires_at']).execute();

  await db.schema
    .createTable('rebindings')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('license_id', 'text', (c) => c.notNull())
    .addColumn('calendar_year', 'integer', (c) => c.notNull())
    .addColumn('total', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('rebindings_pk', ['account_id', 'license_id', 'calendar_year'])
    .addForeignKeyConstraint(
      'rebindings_license',
      ['account_id', 'license_id'],
      'licenses',
      ['account_id', 'id'],
      (constraint) => constraint.onDelete('cascade'),
    )
    .execute();
}
