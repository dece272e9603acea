import type { Kysely } from 'kysely';

/** Who did what, and when. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('audit')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('actor', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('details', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('audit_pk', ['account_id', 'id'])
    .execute();
}
