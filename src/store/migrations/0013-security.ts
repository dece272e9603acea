import type { Kysely } from 'kysely';

/** Where a token may be used from and how often, when it was used last, and whose budget it spends. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('tokens').addColumn('networks', 'text').execute();
  await db.schema.alterTable('tokens').addColumn('rate_limit', 'integer').execute();
  await db.schema.alterTable('tokens').addColumn('last_used_on', 'text').execute();
  await db.schema.alterTable('tokens').addColumn('budget_of', 'text').execute();
}
