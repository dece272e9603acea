import { type Kysely, sql } from 'kysely';

/** The addresses that events are sent to, how far each has come, and how each event fared. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('webhooks')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('types', 'text')
    .addColumn('description', 'text')
    .addColumn('reveal', 'integer', (c) => c.notNull())
    .addColumn('ordered', 'integer', (c) => c.notNull())
    .addColumn('active', 'integer', (c) => c.notNull())
    .addColumn('api_version', 'text', (c) => c.notNull())
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('previous_secret', 'text')
    .addColumn('previous_secret_until', 'text')
    .addColumn('last_seq', 'integer', (c) => c.notNull())
    .addColumn('retry_at', 'text')
    .addColumn('paused_until', 'text')
    .addColumn('lease', 'text')
    .addColumn('lease_until', 'text')
    .addColumn('served_at', 'text')
    .addColumn('failing_since', 'text')
    .addColumn('disabled_at', 'text')
    .addColumn('disabled_reason', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('webhooks_pk', ['account_id', 'id'])
    .execute();
  await sql`create index webhooks_active on webhooks (account_id, id) where active = 1`.execute(db);

  await db.schema
    .createTable('webhook_deliveries')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('webhook_id', 'text', (c) => c.notNull())
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('event_id', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('status', 'integer')
    .addColumn('error', 'text')
    .addColumn('answer', 'text')
    .addColumn('duration_ms', 'integer', (c) => c.notNull())
    .addColumn('attempted_at', 'text', (c) => c.notNull())
    .addColumn('next_attempt_at', 'text')
    .addPrimaryKeyConstraint('webhook_deliveries_pk', ['account_id', 'webhook_id', 'seq'])
    .addForeignKeyConstraint(
      'webhook_deliveries_webhook',
      ['account_id', 'webhook_id'],
      'webhooks',
      ['account_id', 'id'],
      (constraint) => constraint.onDelete('cascade'),
    )
    .execute();
  // What was accepted is most of the table, and is asked for by its end only.
  await sql`
    create index webhook_deliveries_open on webhook_deliveries (account_id, webhook_id, state, seq)
    where state <> 'delivered'
  `.execute(db);
  await sql`
    create index webhook_deliveries_due on webhook_deliveries (account_id, webhook_id, next_attempt_at, seq)
    where state = 'retrying'
  `.execute(db);
  await db.schema.createIndex('webhook_deliveries_by_age').on('webhook_deliveries').column('attempted_at').execute();
}
