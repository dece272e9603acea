import type { Kysely } from 'kysely';

/** Requests under an idempotency key, with their stored responses. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('idempotency')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('idempotency_key', 'text', (c) => c.notNull())
    .addColumn('fingerprint_version', 'integer', (c) => c.notNull())
    .addColumn('fingerprint', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('method', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('status', 'integer')
    .addColumn('content_type', 'text')
    .addColumn('body', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('idempotency_pk', ['account_id', 'idempotency_key'])
    .execute();

  await db.schema.createIndex('idempotency_by_age').on('idempotency').column('created_at').execute();

  // Replicas that start at once on an empty database must agree on one account.
  await db.schema.createIndex('accounts_by_name').unique().on('accounts').column('name').execute();
}
