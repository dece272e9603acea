import { type Kysely, PostgresAdapter, sql } from 'kysely';

/**
 * Where a token may be used from and how often, when it was used last, and whose budget it spends. How much of each rate
 * limit is used up, for replicas that share a database. The key that seals secrets.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('tokens').addColumn('networks', 'text').execute();
  await db.schema.alterTable('tokens').addColumn('rate_limit', 'integer').execute();
  await db.schema.alterTable('tokens').addColumn('last_used_on', 'text').execute();
  await db.schema.alterTable('tokens').addColumn('budget_of', 'text').execute();

  await db.schema
    .createTable('rates')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('empty_at', 'bigint', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('rates_by_end').on('rates').column('empty_at').execute();
  if (db.getExecutor().adapter instanceof PostgresAdapter) await sql`alter table rates set unlogged`.execute(db);

  await db.schema
    .createTable('data_keys')
    .addColumn('slot', 'text', (c) => c.primaryKey())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('sealed', 'text', (c) => c.notNull())
    .addColumn('salt', 'text')
    .execute();
}
