import { type Kysely, sql } from 'kysely';

/** The terms of licences: their reference, the length from the first use, and the grace period after the end. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('licenses').addColumn('reference', 'text').execute();
  await db.schema.alterTable('licenses').addColumn('expires_after', 'text').execute();
  await db.schema.alterTable('licenses').addColumn('grace_period', 'text').execute();
  await db.schema
    .createIndex('licenses_reference')
    .unique()
    .on('licenses')
    .columns(['account_id', 'reference'])
    .where(sql.ref('reference'), 'is not', null)
    .execute();
}
