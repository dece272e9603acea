import type { Kysely } from 'kysely';

/** Free metadata of licences. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('licenses')
    .addColumn('metadata', 'text', (c) => c.notNull().defaultTo('{}'))
    .execute();
}
