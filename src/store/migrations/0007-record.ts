import type { Kysely } from 'kysely';

/** What happened, as it is written with what happened. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('outbox')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('entry', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('outbox_pk', ['account_id', 'id'])
    .execute();
}
