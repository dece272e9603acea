import { type Kysely, sql } from 'kysely';
import { clustered } from './clustered.ts';

/** The columns that this migration reads and writes. */
interface Columns {
  readonly audit: {
    readonly account_id: string;
    readonly id: string;
    readonly action: string;
    readonly actor: string;
    readonly subject: string;
    readonly details: string;
    readonly created_at: string;
  };
  readonly outbox: {
    readonly account_id: string;
    readonly id: string;
    readonly created_at: string;
    readonly entry: string;
  };
}

/**
 * What happened: as it is written with what happened, and as it is numbered afterwards. What an operator has resolved
 * waits for its number like everything else. Licences remember for which end they were announced.
 */
export async function up(db: Kysely<Columns>): Promise<void> {
  await db.schema
    .createTable('outbox')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('entry', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('outbox_pk', ['account_id', 'id'])
    .$call(clustered(db))
    .execute();
  // One for each decision of an operator: few.
  for (const row of await db.selectFrom('audit').selectAll().execute()) {
    await db.insertInto('outbox').values(toOutbox(row)).execute();
  }
  await db.schema.dropTable('audit').execute();

  await db.schema
    .createTable('audit')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('operation', 'text', (c) => c.notNull())
    .addColumn('content', 'text', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('audit_by_seq', ['account_id', 'seq'])
    .execute();
  await sql`
    create index audit_resolutions on audit (account_id, seq) where operation = 'idempotency.resolve'
  `.execute(db);

  await db.schema
    .createTable('events')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('subject_id', 'text', (c) => c.notNull())
    .addColumn('content', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('events_by_seq', ['account_id', 'seq'])
    .execute();
  await db.schema.createIndex('events_by_subject').on('events').columns(['account_id', 'subject_id', 'seq']).execute();

  await db.schema
    .createTable('record_heads')
    .addColumn('account_id', 'text', (c) => c.primaryKey().references('accounts.id'))
    .addColumn('audit_seq', 'integer', (c) => c.notNull())
    .addColumn('audit_hash', 'text', (c) => c.notNull())
    .addColumn('event_seq', 'integer', (c) => c.notNull())
    .addColumn('checkpoint_seq', 'integer', (c) => c.notNull())
    .addColumn('checkpoint_at', 'text')
    .execute();
  await db.schema
    .createTable('checkpoints')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('kid', 'text', (c) => c.notNull())
    .addColumn('signature', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('checkpoints_pk', ['account_id', 'seq'])
    .execute();

  await db.schema.alterTable('licenses').addColumn('soon_recorded_for', 'text').execute();
  await db.schema.alterTable('licenses').addColumn('expired_recorded_for', 'text').execute();
  // Holds the licences whose end is still to be announced, and no others; first those that are not announced at all.
  await sql`
    create index licenses_to_record on licenses
      (account_id, (case when soon_recorded_for is distinct from expires_at then 0 else 1 end), expires_at, id)
    where expires_at is not null and expired_recorded_for is distinct from expires_at
  `.execute(db);
}

function toOutbox({
  account_id,
  id,
  action,
  actor,
  subject,
  details,
  created_at,
}: Columns['audit']): Columns['outbox'] {
  const entry = {
    actor: { type: 'operator', id: actor },
    address: null,
    salt: null,
    door: 'db',
    requestId: null,
    operation: action,
    outcome: 'done',
    resource: { type: 'idempotency_record', id: subject },
    details: JSON.parse(details),
    events: [],
  };
  return { account_id, id, created_at, entry: JSON.stringify(entry) };
}
